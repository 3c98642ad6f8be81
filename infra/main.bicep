// All resources of Agent Memory Toolkit. docs/deploy.md describes how to use it, docs/operations.md what it costs.
targetScope = 'subscription'

// ---- Where, and for whom

@minLength(1)
@maxLength(64)
@description('Name of the environment: part of the resource group\'s name, and what the other names are made of.')
param environmentName string

@description('Region of all resources. It must offer Flex Consumption and the two models.')
@metadata({ azd: { type: 'location' } })
param location string

@description('Object id of who deploys. They may read and write memories and call the models from their machine. Empty: nobody beside the function app may.')
param principalId string = ''

@description('What principalId is. CI deploys as a ServicePrincipal.')
@allowed(['User', 'ServicePrincipal', 'Group'])
param principalType string = 'User'

@description('False deploys the store and the models only, for applications that process inline or not at all.')
param deployFunctionApp bool = true

// ---- The store

@description('Name of the database.')
param cosmosDatabaseName string = 'ai_memory'

@description('0: serverless. Otherwise autoscale, with this as the highest RU/s of each of the five containers (1000 or more). An account cannot change from one to the other.')
@minValue(0)
param cosmosAutoscaleMaxRu int = 0

@description('Seconds after which raw turns are deleted; -1 keeps them. What was derived from them stays.')
param turnTtlSeconds int = 2592000

@description('Whether each user has an index of vectors of their own. false for containers that were made without, because Cosmos DB changes no index of vectors.')
param vectorIndexForEachUser bool = true

@description('Whether the account\'s replicas, and the storage of the function app, are spread over the zones of the region. It cannot be changed for a region that an account has.')
param zoneRedundant bool = false

@description('A second region that the account can be read from, and fails over to; the first one is written to. Not for a serverless account. Empty: there is none.')
param cosmosSecondaryLocation string = ''

@description('How far back the account can be restored to any second: 7 days cost nothing, 30 days cost per GB.')
@allowed(['Continuous7Days', 'Continuous30Days'])
param cosmosBackupTier string = 'Continuous7Days'

@description('URI of a Key Vault key to encrypt the account with; empty: Microsoft\'s key. The app\'s identity must be allowed to use the key first.')
param cosmosKeyVaultKeyUri string = ''

// ---- The models

@description('Endpoint of an Azure OpenAI or Foundry resource that exists, with deployments named as the models below; empty: one is made.')
param openAiEndpoint string = ''

@description('Chat model, and name of its deployment.')
param chatModelName string = 'gpt-4.1-mini'

@description('Version of the chat model.')
param chatModelVersion string = '2025-04-14'

@description('Quota of the chat model, in thousands of tokens per minute.')
param chatCapacity int = 30

@description('Embedding model, and name of its deployment. A store cannot change its embedding model.')
param embeddingModelName string = 'text-embedding-3-large'

@description('Version of the embedding model.')
param embeddingModelVersion string = '1'

@description('Quota of the embedding model, in thousands of tokens per minute.')
param embeddingCapacity int = 30

@description('Length of the vectors, of the store and of the models both. It cannot change afterwards.')
param embeddingDimensions int = 1536

@description('Where the models may run: GlobalStandard, DataZoneStandard, or Standard for this region alone.')
@allowed(['GlobalStandard', 'DataZoneStandard', 'Standard'])
param modelSku string = 'GlobalStandard'

// ---- Background processing

@description('Facts are extracted after this many turns of a thread; 0: never.')
param factExtractionEveryN int = 10

@description('A thread is summarised after this many of its turns; 0: never.')
param threadSummaryEveryN int = 10

@description('A user\'s profile is renewed after this many of their turns; 0: never.')
param userSummaryEveryN int = 20

@description('A user\'s facts are reconciled after this many extractions; 0: never.')
param dedupEveryN int = 5

@description('A user\'s memories are consolidated, put together to procedures, reflected upon and pruned after this many extractions; 0: never.')
@minValue(0)
param deepenEveryN int = 0

@description('Hours after which that is done in any case, where it is on; 0: never.')
@minValue(0)
param deepenHours int = 24

@description('Cosine distance, as a decimal number up to 2, between what the user says now and the topic of a thread, above which the thread is extracted and summarised immediately; 0: never.')
param driftThreshold string = '0'

@description('One model call makes the facts and the summary of the same turns.')
param oneCall bool = true

@description('After the first batch of a thread, facts and summary wait for this many times as many turns; 1: every batch is the same.')
@minValue(1)
@maxValue(10)
param stretchLaterBatches int = 2

@description('Whether a conversation that went quiet is archived, so that others can refer to it.')
param archiveIdleThreads bool = false

@description('Seconds after which a quiet thread is processed whatever its count; 0: never. It is looked for every five minutes.')
@minValue(0)
param idleSeconds int = 300

@description('Whether the HTTP API trusts the header x-user-id of callers with a function key. Use it for a backend that authenticates its users.')
param allowHeaderIdentity bool = false

@description('Issuer of the tokens by which the HTTP API knows its callers; empty: it takes none.')
param jwtIssuer string = ''

@description('Whom such a token must be for.')
param jwtAudience string = ''

@description('Memory of an instance of the function app, in MB.')
@allowed([512, 2048, 4096])
param instanceMemoryMB int = 2048

@description('How many instances the function app may have.')
@minValue(1)
@maxValue(1000)
param maximumInstanceCount int = 40

@description('How many instances are kept ready for HTTP, so that a request never waits for a start. Each costs money all the time.')
@minValue(0)
param alwaysReadyHttp int = 0

@description('How many instances are kept ready for orchestrations, so that facts of the first turns do not wait for a start. Each costs money all the time.')
@minValue(0)
param alwaysReadyDurable int = 0

@description('How many HTTP requests an instance answers at a time.')
@minValue(1)
@maxValue(1000)
param httpConcurrency int = 16

@description('Keeps orchestrations in a Durable Task Scheduler instead of the storage account. host.json must say so too: azd sees to it.')
param durableTaskScheduler bool = false

// ---- Safety

@description('Puts the store, the models and the storage behind private endpoints; then only the function app and the virtual network reach them.')
param privateNetworking bool = false

@description('Whether each request to the store is logged to the workspace. Its logs name partition keys, so users, and cost by the GB. Only with the function app.')
param diagnosticLogs bool = false

@description('Address that gets alerts and budget messages; empty: alerts are only shown in the portal, budget messages go to the owners.')
param alertEmail string = ''

@description('Monthly budget of the resource group, in the currency of the bill; created only if budgetStartDate is set. 0: none.')
@minValue(0)
param monthlyBudget int = 100

@description('First day of the month in which the budget begins, as yyyy-MM-dd: the current month at first, and the same ever after, because Azure does not change it. Empty: there is no budget.')
param budgetStartDate string = ''

var abbreviations = loadJsonContent('abbreviations.json')
var token = toLower(uniqueString(subscription().id, environmentName, location))
var tags = { 'azd-env-name': environmentName }
var ownModels = empty(openAiEndpoint)
var principals = concat(
  [{ id: identity.outputs.principalId, type: 'ServicePrincipal' }],
  empty(principalId) ? [] : [{ id: principalId, type: principalType }]
)
var privateStorageServices = privateNetworking && deployFunctionApp ? ['blob', 'queue', 'table'] : []

resource group 'Microsoft.Resources/resourceGroups@2024-03-01' = {
  name: '${abbreviations.resourceGroup}${environmentName}'
  location: location
  tags: tags
}

module identity 'modules/identity.bicep' = {
  name: 'identity'
  scope: group
  params: {
    name: '${abbreviations.userAssignedIdentity}${token}'
    location: location
    tags: tags
  }
}

module cosmos 'modules/cosmos.bicep' = {
  name: 'cosmos'
  scope: group
  params: {
    name: '${abbreviations.cosmosAccount}${token}'
    location: location
    tags: tags
    serverless: cosmosAutoscaleMaxRu == 0
    zoneRedundant: zoneRedundant
    secondaryLocation: cosmosSecondaryLocation
    backupTier: cosmosBackupTier
    keyVaultKeyUri: cosmosKeyVaultKeyUri
    identityId: identity.outputs.id
    principals: principals
    publicAccess: !privateNetworking
  }
}

module containers 'modules/containers.bicep' = {
  name: 'containers'
  scope: group
  params: {
    accountName: cosmos.outputs.name
    databaseName: cosmosDatabaseName
    autoscaleMaxRu: cosmosAutoscaleMaxRu
    turnTtlSeconds: turnTtlSeconds
    vectorIndexForEachUser: vectorIndexForEachUser
    embeddingDimensions: embeddingDimensions
  }
}

module models 'modules/models.bicep' = if (ownModels) {
  name: 'models'
  scope: group
  params: {
    name: '${abbreviations.openAiAccount}${token}'
    location: location
    tags: tags
    chatModelName: chatModelName
    chatModelVersion: chatModelVersion
    chatCapacity: chatCapacity
    embeddingModelName: embeddingModelName
    embeddingModelVersion: embeddingModelVersion
    embeddingCapacity: embeddingCapacity
    sku: modelSku
    principals: principals
    publicAccess: !privateNetworking
  }
}

module storage 'modules/storage.bicep' = if (deployFunctionApp) {
  name: 'storage'
  scope: group
  params: {
    name: '${abbreviations.storageAccount}${token}'
    location: location
    tags: tags
    appPrincipalId: identity.outputs.principalId
    publicAccess: !privateNetworking
    zoneRedundant: zoneRedundant
  }
}

module monitoring 'modules/monitoring.bicep' = if (deployFunctionApp) {
  name: 'monitoring'
  scope: group
  params: {
    workspaceName: '${abbreviations.logAnalytics}${token}'
    name: '${abbreviations.applicationInsights}${token}'
    location: location
    tags: tags
    appPrincipalId: identity.outputs.principalId
  }
}

module workbook 'modules/workbook.bicep' = if (deployFunctionApp) {
  name: 'workbook'
  scope: group
  params: {
    location: location
    tags: tags
    applicationInsightsId: monitoring!.outputs.id
  }
}

module diagnostics 'modules/diagnostics.bicep' = if (deployFunctionApp && diagnosticLogs) {
  name: 'diagnostics'
  scope: group
  params: {
    accountName: cosmos.outputs.name
    workspaceId: monitoring!.outputs.workspaceId
  }
}

module scheduler 'modules/scheduler.bicep' = if (deployFunctionApp && durableTaskScheduler) {
  name: 'scheduler'
  scope: group
  params: {
    name: '${abbreviations.durableTaskScheduler}${token}'
    location: location
    tags: tags
    principals: principals
  }
}

module network 'modules/network.bicep' = if (privateNetworking) {
  name: 'network'
  scope: group
  params: {
    name: '${abbreviations.virtualNetwork}${token}'
    location: location
    tags: tags
  }
}

module cosmosEndpoint 'modules/private-endpoint.bicep' = if (privateNetworking) {
  name: 'cosmos-endpoint'
  scope: group
  params: {
    name: '${abbreviations.privateEndpoint}cosmos-${token}'
    location: location
    tags: tags
    targetId: cosmos.outputs.id
    groupId: 'Sql'
    zoneNames: ['privatelink.documents.azure.com']
    networkId: network!.outputs.id
    subnetId: network!.outputs.endpointSubnetId
  }
}

module modelsEndpoint 'modules/private-endpoint.bicep' = if (privateNetworking && ownModels) {
  name: 'models-endpoint'
  scope: group
  params: {
    name: '${abbreviations.privateEndpoint}models-${token}'
    location: location
    tags: tags
    targetId: models!.outputs.id
    groupId: 'account'
    zoneNames: [
      'privatelink.cognitiveservices.azure.com'
      'privatelink.openai.azure.com'
      'privatelink.services.ai.azure.com'
    ]
    networkId: network!.outputs.id
    subnetId: network!.outputs.endpointSubnetId
  }
}

// One after the other: a storage account takes one change of its endpoints at a time.
@batchSize(1)
module storageEndpoints 'modules/private-endpoint.bicep' = [for service in privateStorageServices: {
  name: '${service}-endpoint'
  scope: group
  params: {
    name: '${abbreviations.privateEndpoint}${service}-${token}'
    location: location
    tags: tags
    targetId: storage!.outputs.id
    groupId: service
    zoneNames: ['privatelink.${service}.${environment().suffixes.storage}']
    networkId: network!.outputs.id
    subnetId: network!.outputs.endpointSubnetId
  }
}]

module functions 'modules/functions.bicep' = if (deployFunctionApp) {
  name: 'functions'
  scope: group
  params: {
    name: '${abbreviations.functionApp}${token}'
    planName: '${abbreviations.functionPlan}${token}'
    location: location
    tags: tags
    identityId: identity.outputs.id
    identityClientId: identity.outputs.clientId
    storageAccountName: storage!.outputs.name
    packageContainerName: storage!.outputs.packageContainerName
    applicationInsightsName: monitoring!.outputs.name
    subnetId: privateNetworking ? network!.outputs.appSubnetId : ''
    instanceMemoryMB: instanceMemoryMB
    maximumInstanceCount: maximumInstanceCount
    zoneRedundant: zoneRedundant
    alwaysReadyHttp: alwaysReadyHttp
    alwaysReadyDurable: alwaysReadyDurable
    httpConcurrency: httpConcurrency
    schedulerConnection: durableTaskScheduler ? scheduler!.outputs.connection : ''
    cosmosEndpoint: cosmos.outputs.endpoint
    cosmosDatabaseName: cosmosDatabaseName
    openAiEndpoint: ownModels ? models!.outputs.endpoint : openAiEndpoint
    chatModelName: chatModelName
    embeddingModelName: embeddingModelName
    embeddingDimensions: embeddingDimensions
    factExtractionEveryN: factExtractionEveryN
    threadSummaryEveryN: threadSummaryEveryN
    userSummaryEveryN: userSummaryEveryN
    dedupEveryN: dedupEveryN
    deepenEveryN: deepenEveryN
    deepenHours: deepenHours
    driftThreshold: driftThreshold
    oneCall: oneCall
    stretchLaterBatches: stretchLaterBatches
    archiveIdleThreads: archiveIdleThreads
    idleSeconds: idleSeconds
    allowHeaderIdentity: allowHeaderIdentity
    jwtIssuer: jwtIssuer
    jwtAudience: jwtAudience
  }
}

module alerts 'modules/alerts.bicep' = {
  name: 'alerts'
  scope: group
  params: {
    actionGroupName: '${abbreviations.actionGroup}${token}'
    email: alertEmail
    tags: tags
    cosmosAccountId: cosmos.outputs.id
  }
}

module appAlerts 'modules/app-alerts.bicep' = if (deployFunctionApp) {
  name: 'app-alerts'
  scope: group
  params: {
    location: location
    tags: tags
    applicationInsightsId: monitoring!.outputs.id
    actionGroupIds: alerts.outputs.actionGroupIds
  }
}

module budget 'modules/budget.bicep' = if (monthlyBudget > 0 && !empty(budgetStartDate)) {
  name: 'budget'
  scope: group
  params: {
    name: '${abbreviations.budget}${token}'
    amount: monthlyBudget
    startDate: budgetStartDate
    email: alertEmail
  }
}

output AZURE_LOCATION string = location
output AZURE_TENANT_ID string = tenant().tenantId
output AZURE_RESOURCE_GROUP string = group.name

output COSMOS_DB_ENDPOINT string = cosmos.outputs.endpoint
output COSMOS_DB_DATABASE string = cosmosDatabaseName
output AZURE_OPENAI_ENDPOINT string = ownModels ? models!.outputs.endpoint : openAiEndpoint
output AGENT_MEMORY_CHAT_MODEL string = chatModelName
output AGENT_MEMORY_EMBEDDING_MODEL string = embeddingModelName
output AGENT_MEMORY_EMBEDDING_DIMENSIONS int = embeddingDimensions

output FUNCTION_APP_NAME string = deployFunctionApp ? functions!.outputs.name : ''
output FUNCTION_APP_URL string = deployFunctionApp ? functions!.outputs.url : ''
