// A Durable Task Scheduler, billed per action, with one task hub.

@description('Name of the scheduler.')
param name string
@description('Region.')
param location string
@description('Tags.')
param tags object
@description('Who may run and see orchestrations: a list of { id, type }.')
param principals array

// Durable Task Data Contributor
var dataContributor = '0ad04412-c4d5-4796-b79c-f76d14c8d402'

resource scheduler 'Microsoft.DurableTask/schedulers@2025-11-01' = {
  name: name
  location: location
  tags: tags
  properties: {
    sku: { name: 'Consumption' }
    // An empty list would let nobody in. Who comes in still needs a role.
    ipAllowlist: ['0.0.0.0/0']
  }
}

resource hub 'Microsoft.DurableTask/schedulers/taskHubs@2025-11-01' = {
  parent: scheduler
  name: 'default'
}

resource roles 'Microsoft.Authorization/roleAssignments@2022-04-01' = [for principal in principals: {
  scope: scheduler
  name: guid(scheduler.id, principal.id, dataContributor)
  properties: {
    principalId: principal.id
    principalType: principal.type
    roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', dataContributor)
  }
}]

output name string = scheduler.name
// Names an address, a hub and a way to sign in; the app adds whose identity it is. Nothing in it is secret.
output connection string = 'Endpoint=${scheduler.properties.endpoint};TaskHub=${hub.name};Authentication=ManagedIdentity'
