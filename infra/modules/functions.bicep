// The function app on Flex Consumption. Every connection is by identity; docs/operations.md explains the settings.

@description('Name of the app; part of its address.')
param name string
@description('Name of its plan.')
param planName string
@description('Region.')
param location string
@description('Tags.')
param tags object
@description('Resource id of the identity that the app is.')
param identityId string
@description('Client id of that identity.')
param identityClientId string
@description('The app\'s storage.')
param storageAccountName string
@description('Where its package is put.')
param packageContainerName string
@description('Where its telemetry goes.')
param applicationInsightsName string
@description('The subnet that the app looks out of; empty: none.')
param subnetId string
@description('Memory of an instance, in MB.')
param instanceMemoryMB int
@description('How many instances there may be.')
param maximumInstanceCount int
@description('Whether its instances are spread over the zones of the region.')
param zoneRedundant bool
@description('How many instances are kept ready for HTTP.')
param alwaysReadyHttp int
@description('How many instances are kept ready for orchestrations.')
param alwaysReadyDurable int
@description('How many HTTP requests an instance answers at a time.')
param httpConcurrency int
@description('How to reach the Durable Task Scheduler; empty: there is none.')
param schedulerConnection string
@description('Address of the store.')
param cosmosEndpoint string
@description('Name of the database.')
param cosmosDatabaseName string
@description('Address of the models.')
param openAiEndpoint string
@description('Deployment of the chat model.')
param chatModelName string
@description('Deployment of the embedding model.')
param embeddingModelName string
@description('Length of the vectors.')
param embeddingDimensions int
@description('Turns of a thread between extractions.')
param factExtractionEveryN int
@description('Turns of a thread between summaries.')
param threadSummaryEveryN int
@description('Turns of a user between profiles.')
param userSummaryEveryN int
@description('Extractions of a user between reconciliations.')
param dedupEveryN int
@description('Extractions of a user between consolidation, procedures, reflection and pruning.')
param deepenEveryN int
@description('Hours after which that is done in any case.')
param deepenHours int
@description('Cosine distance above which a change of topic sets off extraction and summary.')
param driftThreshold string
@description('Whether one model call makes the facts and the summary of the same turns.')
param oneCall bool
@description('How many times as many turns later batches of a thread wait for.')
param stretchLaterBatches int
@description('Whether a conversation that went quiet is archived.')
param archiveIdleThreads bool
@description('Seconds after which a quiet thread is processed whatever its count.')
param idleSeconds int
@description('Whether the HTTP API trusts the header x-user-id.')
param allowHeaderIdentity bool
@description('Issuer of the tokens that the HTTP API takes, if any.')
param jwtIssuer string
@description('Whom such a token must be for.')
param jwtAudience string

var tokenSettings = empty(jwtIssuer) ? {} : {
  AGENT_MEMORY_JWT_ISSUER: jwtIssuer
  AGENT_MEMORY_JWT_AUDIENCE: jwtAudience
}
var schedulerSettings = empty(schedulerConnection) ? {} : {
  DURABLE_TASK_SCHEDULER_CONNECTION_STRING: '${schedulerConnection};ClientID=${identityClientId}'
}

resource storage 'Microsoft.Storage/storageAccounts@2024-01-01' existing = {
  name: storageAccountName
}

resource applicationInsights 'Microsoft.Insights/components@2020-02-02' existing = {
  name: applicationInsightsName
}

resource plan 'Microsoft.Web/serverfarms@2024-04-01' = {
  name: planName
  location: location
  tags: tags
  kind: 'functionapp'
  sku: { name: 'FC1', tier: 'FlexConsumption' }
  properties: { reserved: true, zoneRedundant: zoneRedundant }
}

resource app 'Microsoft.Web/sites@2024-04-01' = {
  name: name
  location: location
  tags: union(tags, { 'azd-service-name': 'api' })
  kind: 'functionapp,linux'
  identity: {
    type: 'UserAssigned'
    userAssignedIdentities: { '${identityId}': {} }
  }
  properties: {
    serverFarmId: plan.id
    httpsOnly: true
    keyVaultReferenceIdentity: identityId
    virtualNetworkSubnetId: empty(subnetId) ? null : subnetId
    siteConfig: { minTlsVersion: '1.2' }
    functionAppConfig: {
      runtime: { name: 'python', version: '3.13' }
      scaleAndConcurrency: {
        instanceMemoryMB: instanceMemoryMB
        maximumInstanceCount: maximumInstanceCount
        alwaysReady: concat(
          alwaysReadyHttp == 0 ? [] : [{ name: 'http', instanceCount: alwaysReadyHttp }],
          alwaysReadyDurable == 0 ? [] : [{ name: 'durable', instanceCount: alwaysReadyDurable }]
        )
        triggers: { http: { perInstanceConcurrency: httpConcurrency } }
      }
      deployment: {
        storage: {
          type: 'blobContainer'
          value: '${storage.properties.primaryEndpoints.blob}${packageContainerName}'
          authentication: {
            type: 'UserAssignedIdentity'
            userAssignedIdentityResourceId: identityId
          }
        }
      }
    }
  }
}

// Settings without a parameter of their own are in ../app-settings.json; they win.
resource settings 'Microsoft.Web/sites/config@2024-04-01' = {
  parent: app
  name: 'appsettings'
  properties: union({
    AzureWebJobsStorage__credential: 'managedidentity'
    AzureWebJobsStorage__clientId: identityClientId
    AzureWebJobsStorage__blobServiceUri: storage.properties.primaryEndpoints.blob
    AzureWebJobsStorage__queueServiceUri: storage.properties.primaryEndpoints.queue
    AzureWebJobsStorage__tableServiceUri: storage.properties.primaryEndpoints.table

    APPLICATIONINSIGHTS_CONNECTION_STRING: applicationInsights.properties.ConnectionString
    APPLICATIONINSIGHTS_AUTHENTICATION_STRING: 'ClientId=${identityClientId};Authorization=AAD'
    PYTHON_APPLICATIONINSIGHTS_ENABLE_TELEMETRY: 'true'

    AZURE_CLIENT_ID: identityClientId

    COSMOS__accountEndpoint: cosmosEndpoint
    COSMOS__credential: 'managedidentity'
    COSMOS__clientId: identityClientId
    COSMOS_DB_ENDPOINT: cosmosEndpoint
    COSMOS_DB_DATABASE: cosmosDatabaseName

    AZURE_OPENAI_ENDPOINT: openAiEndpoint
    AGENT_MEMORY_CHAT_MODEL: chatModelName
    AGENT_MEMORY_EMBEDDING_MODEL: embeddingModelName
    AGENT_MEMORY_EMBEDDING_DIMENSIONS: string(embeddingDimensions)

    FACT_EXTRACTION_EVERY_N: string(factExtractionEveryN)
    THREAD_SUMMARY_EVERY_N: string(threadSummaryEveryN)
    USER_SUMMARY_EVERY_N: string(userSummaryEveryN)
    DEDUP_EVERY_N: string(dedupEveryN)
    DEEPEN_EVERY_N: string(deepenEveryN)
    DEEPEN_HOURS: string(deepenHours)
    DRIFT_THRESHOLD: driftThreshold
    ONE_CALL_FOR_FACTS_AND_SUMMARY: oneCall ? 'true' : 'false'
    STRETCH_LATER_BATCHES: string(stretchLaterBatches)
    ARCHIVE_IDLE_THREADS: archiveIdleThreads ? 'true' : 'false'
    AGENT_MEMORY_IDLE_SECONDS: string(idleSeconds)
    ALLOW_HEADER_IDENTITY: allowHeaderIdentity ? 'true' : 'false'
  }, schedulerSettings, tokenSettings, loadJsonContent('../app-settings.json'))
}

// Publishing is by Entra ID too: these switch user name and password off.
resource basicPublishing 'Microsoft.Web/sites/basicPublishingCredentialsPolicies@2024-04-01' = [for way in ['ftp', 'scm']: {
  parent: app
  name: way
  properties: { allow: false }
}]

output name string = app.name
output url string = 'https://${app.properties.defaultHostName}'
