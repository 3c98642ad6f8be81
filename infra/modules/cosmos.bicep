// The Cosmos DB account. It takes no keys, so the containers are made here (containers.bicep) and not by the app:
// an identity can be given the right to data, not to containers.

@description('Name of the account.')
param name string
@description('Region.')
param location string
@description('Tags.')
param tags object
@description('Serverless, or provisioned throughput.')
param serverless bool
@description('Whether the replicas are spread over the zones of a region.')
param zoneRedundant bool
@description('A second region, to be read from and failed over to; empty: none.')
param secondaryLocation string
@description('How far back the account can be restored.')
param backupTier string
@description('Key Vault key to encrypt with; empty: Microsoft\'s key.')
param keyVaultKeyUri string
@description('Identity that uses the Key Vault key.')
param identityId string
@description('Who may read and write items: a list of { id, type }.')
param principals array
@description('Whether the account can be reached from outside the virtual network.')
param publicAccess bool

// Cosmos DB keeps the roles for its data itself. This one reads and writes items, and makes no containers.
var dataContributor = '00000000-0000-0000-0000-000000000002'
// A serverless account has one region.
var twoRegions = !serverless && !empty(secondaryLocation)
var encryption = empty(keyVaultKeyUri) ? {} : {
  keyVaultKeyUri: keyVaultKeyUri
  defaultIdentity: 'UserAssignedIdentity=${identityId}'
}

resource account 'Microsoft.DocumentDB/databaseAccounts@2025-10-15' = {
  name: name
  location: location
  tags: tags
  kind: 'GlobalDocumentDB'
  identity: {
    type: 'UserAssigned'
    userAssignedIdentities: { '${identityId}': {} }
  }
  properties: union({
    databaseAccountOfferType: 'Standard'
    // The one with priority 0 is written to.
    locations: concat(
      [{ locationName: location, failoverPriority: 0, isZoneRedundant: zoneRedundant }],
      twoRegions ? [{ locationName: secondaryLocation, failoverPriority: 1, isZoneRedundant: zoneRedundant }] : []
    )
    // The same with one region: Azure takes no change of the regions together with another one.
    enableAutomaticFailover: !serverless
    enableMultipleWriteLocations: false
    capabilities: concat(serverless ? [{ name: 'EnableServerless' }] : [], [
      { name: 'EnableNoSQLVectorSearch' }
      { name: 'EnableNoSQLFullTextSearch' }
    ])
    consistencyPolicy: { defaultConsistencyLevel: 'Session' }
    backupPolicy: {
      type: 'Continuous'
      continuousModeProperties: { tier: backupTier }
    }
    disableLocalAuth: true
    disableKeyBasedMetadataWriteAccess: true
    minimalTlsVersion: 'Tls12'
    publicNetworkAccess: publicAccess ? 'Enabled' : 'Disabled'
  }, encryption)
}

// One after the other: the account refuses assignments that are made at the same time (412).
@batchSize(1)
resource roles 'Microsoft.DocumentDB/databaseAccounts/sqlRoleAssignments@2025-10-15' = [for principal in principals: {
  parent: account
  name: guid(account.id, principal.id, dataContributor)
  properties: {
    principalId: principal.id
    roleDefinitionId: '${account.id}/sqlRoleDefinitions/${dataContributor}'
    scope: account.id
  }
}]

output id string = account.id
output name string = account.name
output endpoint string = account.properties.documentEndpoint
