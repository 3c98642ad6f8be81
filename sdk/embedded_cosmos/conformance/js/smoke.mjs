// What an application does with Microsoft's JavaScript client, against the server at COSMOS_ENDPOINT.
import assert from "node:assert/strict";
import { Agent } from "node:https";
import { BulkOperationType, ChangeFeedStartFrom, CosmosClient, PartitionKeyKind, StatusCodes } from "@azure/cosmos";

const { COSMOS_ENDPOINT: endpoint, COSMOS_KEY: key } = process.env;
// The server's certificate signs itself.
const client = new CosmosClient({ endpoint, key, agent: new Agent({ rejectUnauthorized: false }) });

const steps = {
  async "creates a database and a container with a hierarchical key"(state) {
    const { database } = await client.databases.createIfNotExists({ id: "js" });
    const { container } = await database.containers.createIfNotExists({
      id: "items",
      partitionKey: { paths: ["/user_id", "/thread_id"], kind: PartitionKeyKind.MultiHash, version: 2 },
      vectorEmbeddingPolicy: {
        vectorEmbeddings: [{ path: "/embedding", dataType: "float32", dimensions: 3, distanceFunction: "cosine" }],
      },
      indexingPolicy: { vectorIndexes: [{ path: "/embedding", type: "quantizedFlat" }] },
    });
    const { resource } = await container.read();
    assert.deepEqual(resource.partitionKey.paths, ["/user_id", "/thread_id"]);
    Object.assign(state, { database, container });
  },

  async "creates, reads, replaces, patches and deletes an item"({ container }) {
    const created = await container.items.create({ id: "é 1", user_id: "alice", thread_id: "t1", n: 1 });
    assert.equal(created.statusCode, StatusCodes.Created);
    const item = container.item("é 1", ["alice", "t1"]);
    const { resource, etag } = await item.read();
    const accessCondition = { type: "IfMatch", condition: etag };
    await item.replace({ ...resource, n: 2 }, { accessCondition });
    await assert.rejects(item.replace({ ...resource, n: 3 }, { accessCondition }), { code: StatusCodes.PreconditionFailed });
    const patched = await item.patch([{ op: "incr", path: "/n", value: 5 }]);
    assert.equal(patched.resource.n, 7);
    await assert.rejects(container.items.create(resource), { code: StatusCodes.Conflict });
    await item.delete();
    assert.equal((await item.read()).statusCode, StatusCodes.NotFound);
  },

  async "keeps batches whole"({ container }) {
    const item = (id) => ({ id, user_id: "alice", thread_id: "t2" });
    const good = await container.items.batch(
      [
        { operationType: "Create", resourceBody: item("1") },
        { operationType: "Upsert", resourceBody: item("2") },
        { operationType: "Read", id: "1" },
      ],
      ["alice", "t2"],
    );
    assert.deepEqual(good.result.map((each) => each.statusCode), [201, 201, 200]);
    const bad = await container.items.batch(
      [
        { operationType: "Create", resourceBody: item("3") },
        { operationType: "Create", resourceBody: item("1") },
      ],
      ["alice", "t2"],
    );
    assert.deepEqual(bad.result.map((each) => each.statusCode), [424, 409]);
    assert.equal((await container.item("3", ["alice", "t2"]).read()).statusCode, StatusCodes.NotFound);
  },

  async "writes in bulk"({ container }) {
    const operations = Array.from({ length: 150 }, (_, n) => ({
      operationType: BulkOperationType.Create,
      partitionKey: [`user${n % 3}`, "bulk"],
      resourceBody: { id: `${n}`, user_id: `user${n % 3}`, thread_id: "bulk", n, embedding: [1, n / 150, 0] },
    }));
    const results = await container.items.executeBulkOperations(operations);
    assert.ok(results.every((result) => result.response?.statusCode === StatusCodes.Created));
  },

  async "queries by key, by prefix and across partitions"({ container }) {
    const rows = async (query, options) => (await container.items.query(query, options).fetchAll()).resources;
    const query = {
      query: "SELECT VALUE c.n FROM c WHERE c.n >= @least ORDER BY c.n DESC",
      parameters: [{ name: "@least", value: 100 }],
    };
    const numbers = Array.from({ length: 50 }, (_, n) => 149 - n);
    assert.deepEqual(await rows(query), numbers);
    assert.deepEqual(await rows(query, { maxItemCount: 7 }), numbers);
    const ofOne = numbers.filter((n) => n % 3 === 1);
    assert.deepEqual(await rows(query, { partitionKey: ["user1", "bulk"] }), ofOne);
    assert.deepEqual(await rows(query, { partitionKey: ["user1"] }), ofOne);
    assert.deepEqual(await rows("SELECT VALUE COUNT(1) FROM c WHERE c.thread_id = 'bulk'"), [150]);
    const nearest = "SELECT TOP 3 VALUE c.n FROM c ORDER BY VectorDistance(c.embedding, [1, 0, 0])";
    assert.deepEqual(await rows(nearest, { partitionKey: ["user0", "bulk"] }), [0, 3, 6]);
    await assert.rejects(rows("SELECT * FORM c"), { code: StatusCodes.BadRequest });
  },

  async "reads the change feed and goes on where it ended"({ container }) {
    const read = async (changeFeedStartFrom) => {
      const iterator = container.items.getChangeFeedIterator({ changeFeedStartFrom, maxItemCount: 40 });
      const seen = [];
      while (iterator.hasMoreResults) {
        const page = await iterator.readNext();
        if (page.statusCode === StatusCodes.NotModified) return { seen, continuation: page.continuationToken };
        seen.push(...page.result);
      }
    };
    const { seen, continuation } = await read(ChangeFeedStartFrom.Beginning());
    assert.equal(seen.length, 152);
    await container.items.upsert({ id: "late", user_id: "bob", thread_id: "t" });
    const later = await read(ChangeFeedStartFrom.Continuation(continuation));
    assert.deepEqual(later.seen.map((item) => item.id), ["late"]);
  },

  async "deletes what it made"({ database }) {
    await database.delete();
    const { resources } = await client.databases.readAll().fetchAll();
    assert.ok(!resources.some((each) => each.id === "js"));
  },
};

const state = {};
for (const [name, step] of Object.entries(steps)) {
  await step(state);
  console.log(`  ${name}`);
}
client.dispose();
