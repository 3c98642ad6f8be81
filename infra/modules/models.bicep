// A Foundry resource with the chat and the embedding model. It takes no keys.

@description('Name of the resource; part of its address.')
param name string
@description('Region.')
param location string
@description('Tags.')
param tags object
@description('Chat model, and name of its deployment.')
param chatModelName string
@description('Version of the chat model.')
param chatModelVersion string
@description('Quota of the chat model, in thousands of tokens per minute.')
param chatCapacity int
@description('Embedding model, and name of its deployment.')
param embeddingModelName string
@description('Version of the embedding model.')
param embeddingModelVersion string
@description('Quota of the embedding model, in thousands of tokens per minute.')
param embeddingCapacity int
@description('Where the models may run.')
param sku string
@description('Whether the models can be reached from outside the virtual network.')
param publicAccess bool
@description('Who may call the models: a list of { id, type }.')
param principals array

// Cognitive Services OpenAI User
var openAIUser = '5e0bd9bd-7b93-4f28-af87-19fc36ad61bd'

resource account 'Microsoft.CognitiveServices/accounts@2025-06-01' = {
  name: name
  location: location
  tags: tags
  kind: 'AIServices'
  sku: { name: 'S0' }
  properties: {
    customSubDomainName: name
    disableLocalAuth: true
    publicNetworkAccess: publicAccess ? 'Enabled' : 'Disabled'
    networkAcls: { defaultAction: publicAccess ? 'Allow' : 'Deny' }
  }
}

resource chat 'Microsoft.CognitiveServices/accounts/deployments@2025-06-01' = {
  parent: account
  name: chatModelName
  sku: { name: sku, capacity: chatCapacity }
  properties: {
    model: { format: 'OpenAI', name: chatModelName, version: chatModelVersion }
    versionUpgradeOption: 'OnceCurrentVersionExpired'
  }
}

// One after the other: an account takes one change of its deployments at a time.
resource embedding 'Microsoft.CognitiveServices/accounts/deployments@2025-06-01' = {
  parent: account
  name: embeddingModelName
  sku: { name: sku, capacity: embeddingCapacity }
  properties: {
    model: { format: 'OpenAI', name: embeddingModelName, version: embeddingModelVersion }
    // Another version would make vectors that do not compare with those in the store.
    versionUpgradeOption: 'NoAutoUpgrade'
  }
  dependsOn: [chat]
}

resource roles 'Microsoft.Authorization/roleAssignments@2022-04-01' = [for principal in principals: {
  scope: account
  name: guid(account.id, principal.id, openAIUser)
  properties: {
    principalId: principal.id
    principalType: principal.type
    roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', openAIUser)
  }
}]

output id string = account.id
output name string = account.name
output endpoint string = account.properties.endpoint
