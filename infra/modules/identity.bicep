// The one identity that the function app is, towards the store, the models, its storage and its telemetry.

@description('Name of the identity.')
param name string
@description('Region.')
param location string
@description('Tags.')
param tags object

resource identity 'Microsoft.ManagedIdentity/userAssignedIdentities@2023-01-31' = {
  name: name
  location: location
  tags: tags
}

output id string = identity.id
output clientId string = identity.properties.clientId
output principalId string = identity.properties.principalId
