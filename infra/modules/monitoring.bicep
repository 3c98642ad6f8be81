// Application Insights and its workspace. It accepts telemetry only from the app's identity.

@description('Name of the Log Analytics workspace.')
param workspaceName string
@description('Name of the Application Insights component.')
param name string
@description('Region.')
param location string
@description('Tags.')
param tags object
@description('Object id of the identity that sends telemetry.')
param appPrincipalId string

// Monitoring Metrics Publisher
var metricsPublisher = '3913510d-42f4-4e42-8a64-420c390055eb'

resource workspace 'Microsoft.OperationalInsights/workspaces@2023-09-01' = {
  name: workspaceName
  location: location
  tags: tags
  properties: {
    sku: { name: 'PerGB2018' }
    retentionInDays: 30
  }
}

resource component 'Microsoft.Insights/components@2020-02-02' = {
  name: name
  location: location
  tags: tags
  kind: 'web'
  properties: {
    Application_Type: 'web'
    WorkspaceResourceId: workspace.id
    DisableLocalAuth: true
  }
}

resource role 'Microsoft.Authorization/roleAssignments@2022-04-01' = {
  scope: component
  name: guid(component.id, appPrincipalId, metricsPublisher)
  properties: {
    principalId: appPrincipalId
    principalType: 'ServicePrincipal'
    roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', metricsPublisher)
  }
}

output id string = component.id
output workspaceId string = workspace.id
output name string = component.name
