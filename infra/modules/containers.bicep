// The database and its containers in an account that exists. What they look like is said once, in the library's
// store/containers.py; tools/generate_containers.py writes containers.json out of it.

@description('Name of the account.')
param accountName string
@description('Name of the database.')
param databaseName string = 'ai_memory'
@description('0: serverless account. Otherwise the highest RU/s of each container.')
param autoscaleMaxRu int = 0
@description('Seconds after which raw turns are deleted; -1 keeps them.')
param turnTtlSeconds int = 2592000
@description('Length of the vectors.')
param embeddingDimensions int = 1536
@description('Whether each user has an index of vectors of their own.')
param vectorIndexForEachUser bool = true
@description('Further paths of vectors, of the models that the store moves to: a list of { path, dimensions }. They stay for ever.')
param moreVectors array = loadJsonContent('../more-vectors.json')

var containers = loadJsonContent('containers.json')
var options = autoscaleMaxRu == 0 ? {} : { autoscaleSettings: { maxThroughput: autoscaleMaxRu } }
// What has vectors has the same ones; memories come first.
var vectors = concat(
  map(containers[0].vectors, vector => union(vector, { dimensions: embeddingDimensions })),
  map(moreVectors, vector => union(containers[0].vectors[0], vector))
)
var vectorIndex = containers[0].resource.indexingPolicy.vectorIndexes[0]
var vectorIndexes = map(vectors, vector => vectorIndexForEachUser ? union(vectorIndex, { path: vector.path }) : { path: vector.path, type: vectorIndex.type })
var moreExcluded = map(moreVectors, vector => { path: '${vector.path}/*' })

resource account 'Microsoft.DocumentDB/databaseAccounts@2025-10-15' existing = {
  name: accountName
}

resource database 'Microsoft.DocumentDB/databaseAccounts/sqlDatabases@2025-10-15' = {
  parent: account
  name: databaseName
  properties: {
    resource: { id: databaseName }
  }
}

@batchSize(1)
resource container 'Microsoft.DocumentDB/databaseAccounts/sqlDatabases/containers@2025-10-15' = [for item in containers: {
  parent: database
  name: item.resource.id
  properties: {
    resource: union(
      item.resource,
      item.holdsTurns ? { defaultTtl: turnTtlSeconds } : {},
      empty(item.vectors) ? {} : {
        indexingPolicy: {
          excludedPaths: concat(item.resource.indexingPolicy.excludedPaths, moreExcluded)
          vectorIndexes: vectorIndexes
        }
        vectorEmbeddingPolicy: { vectorEmbeddings: vectors }
      }
    )
    options: options
  }
}]
