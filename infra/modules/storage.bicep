// The function app's storage: its package, its keys' blobs, and (unless a scheduler does it) its orchestrations.

@description('Name of the account.')
param name string
@description('Region.')
param location string
@description('Tags.')
param tags object
@description('Whether the account can be reached from outside the virtual network.')
param publicAccess bool
@description('Whether it is kept in several zones of the region.')
param zoneRedundant bool
@description('Object id of the identity that uses it.')
param appPrincipalId string

// Storage Blob Data Owner: the package, keys and locks. Storage Queue and Table Data Contributor: orchestrations.
var roleIds = [
  'b7e6dc6d-f1e8-4753-8033-0f276bb0955b'
  '974c5e8b-45b9-4653-ba55-5f855dd0fb88'
  '0a9a7e1f-b9d0-4cc4-a60d-0319b160aaa3'
]

resource account 'Microsoft.Storage/storageAccounts@2024-01-01' = {
  name: name
  location: location
  tags: tags
  kind: 'StorageV2'
  sku: { name: zoneRedundant ? 'Standard_ZRS' : 'Standard_LRS' }
  properties: {
    allowSharedKeyAccess: false
    allowBlobPublicAccess: false
    defaultToOAuthAuthentication: true
    minimumTlsVersion: 'TLS1_2'
    supportsHttpsTrafficOnly: true
    publicNetworkAccess: publicAccess ? 'Enabled' : 'Disabled'
    networkAcls: {
      defaultAction: publicAccess ? 'Allow' : 'Deny'
      bypass: 'AzureServices'
    }
  }
}

resource blobs 'Microsoft.Storage/storageAccounts/blobServices@2024-01-01' = {
  parent: account
  name: 'default'
}

resource packages 'Microsoft.Storage/storageAccounts/blobServices/containers@2024-01-01' = {
  parent: blobs
  name: 'app-package'
}

resource roles 'Microsoft.Authorization/roleAssignments@2022-04-01' = [for roleId in roleIds: {
  scope: account
  name: guid(account.id, appPrincipalId, roleId)
  properties: {
    principalId: appPrincipalId
    principalType: 'ServicePrincipal'
    roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', roleId)
  }
}]

output id string = account.id
output name string = account.name
output packageContainerName string = packages.name
