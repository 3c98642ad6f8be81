/** One page of a listing. */
export interface Page<Item> {
  items: Item[];
  /** The `cursor` of the page after it; null: this is the last one. */
  next: string | null;
}

/** What every listing takes. */
export interface ListingOptions {
  /** The most items; all of them by default. */
  limit?: number | undefined;
  /** Where it begins: the `next` of a page, of a call with the same other options. */
  cursor?: string | null | undefined;
}

const PAGE = 100;
const LARGEST_PAGE = 1000;

/**
 * A listing that is read page by page, as far as it is looked at:
 *
 *     for await (const memory of alice.memories()) …
 */
export class Listing<Item> implements AsyncIterable<Item> {
  constructor(
    private readonly ask: (size: number, cursor: string | undefined) => Promise<Page<Item>>,
    private readonly options: ListingOptions,
  ) {}

  /** The same listing with what a function makes of the items of each page. */
  map<Other>(change: (items: Item[]) => Other[]): Listing<Other> {
    const ask = async (size: number, cursor: string | undefined) => {
      const page = await this.ask(size, cursor);
      return { items: change(page.items), next: page.next };
    };
    return new Listing(ask, this.options);
  }

  /** One page: about `limit` items, from `cursor` on. Items of the same time come together. */
  page(): Promise<Page<Item>> {
    return this.ask(Math.min(this.options.limit ?? PAGE, LARGEST_PAGE), this.options.cursor ?? undefined);
  }

  /** All pages from `cursor` on. */
  async *pages(): AsyncGenerator<Page<Item>, void, undefined> {
    let page = await this.page();
    yield page;
    while (page.next !== null) {
      page = await this.ask(PAGE, page.next);
      yield page;
    }
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    let left = this.options.limit ?? Infinity;
    for await (const page of this.pages()) {
      for (const item of page.items.slice(0, left)) yield item;
      left -= page.items.length;
      if (left <= 0) return;
    }
  }

  /** The items in one array, at most `limit`. */
  async toArray(): Promise<Item[]> {
    const items: Item[] = [];
    for await (const item of this) items.push(item);
    return items;
  }
}
