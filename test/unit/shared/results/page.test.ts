import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { PageIndex } from "../../../../src/shared/results/page.js";
import {
  anyItem,
  fieldsBeside,
  gameObject,
  indexOf,
  itemsOf,
  nested,
  pageOf,
  type ReadPage,
  readPage,
  writtenBytes,
} from "./large-document.js";

const scene = (count: number) => ({
  scene: "Main",
  isDirty: false,
  hierarchy: Array.from({ length: count }, (_, at) => gameObject(at + 1)),
});

function allPages(document: unknown, index: PageIndex): ReadPage[] {
  return index.pages.map((_, at) => readPage(document, index, at + 1));
}

const startsOf = ({ pages }: PageIndex): number[] => pages.map(({ first }) => first);

const refused = (what: RegExp) =>
  expect.objectContaining({ code: "INVALID_ARGUMENTS", message: expect.stringMatching(what) });

describe("a list is turned page by page", () => {
  test("items are whole, in order, and the page says where it is", () => {
    const first = pageOf([1, 22, 333, 4444], { page: 1, pageSizeBytes: 10 });
    expect(first).toEqual({
      page: 1,
      data: [1, 22, 333],
      pagination: { start_index: 0, end_index: 3, total_items: 4, total_pages: 2 },
    });
    expect(pageOf([1, 22, 333, 4444], { page: 2, pageSizeBytes: 10 }).data).toEqual([4444]);
  });

  test("boundaries follow real sizes: one large item does not make the other pages smaller", () => {
    const document = [..."abcdefgh", "x".repeat(1000), ..."ijklmnop"];
    expect(startsOf(indexOf(document, undefined, 34))).toEqual([0, 8, 9]);
  });

  test("an item larger than a page is a page of its own", () => {
    const huge = { text: "x".repeat(5000) };
    expect(allPages([1, huge, 2], indexOf([1, huge, 2], undefined, 100)).map(({ data }) => data)).toEqual([
      [1],
      [huge],
      [2],
    ]);
  });

  test("sizes are UTF-8 bytes, escapes counted", () => {
    // Each takes eight bytes between its quotes: two emoji, or four line feeds.
    const document = ["🧱🧱", "🧱🧱", "\n\n\n\n", "\n\n\n\n"];
    expect(startsOf(indexOf(document, undefined, 2 + 10 + 1 + 10))).toEqual([0, 2]);
    expect(startsOf(indexOf(document, undefined, 2 + 10 + 1 + 9))).toEqual([0, 1, 2, 3]);
  });

  test("pages that are not there are empty, with the true totals", () => {
    const pagination = { total_items: 3, total_pages: 3 };
    for (const page of [4, 1000]) {
      expect(pageOf([1, 2, 3], { page, pageSizeBytes: 1 })).toEqual({
        page,
        data: [],
        pagination: { ...pagination, start_index: 3, end_index: 3 },
      });
    }
    for (const page of [0, -1]) {
      expect(pageOf([1, 2, 3], { page, pageSizeBytes: 1 })).toEqual({
        page,
        data: [],
        pagination: { ...pagination, start_index: 0, end_index: 0 },
      });
    }
  });

  test("an empty list has one empty page", () => {
    expect(pageOf([], { page: 1, pageSizeBytes: 100 })).toEqual({
      page: 1,
      data: [],
      pagination: { start_index: 0, end_index: 0, total_items: 0, total_pages: 1 },
    });
  });

  test.each([1.5, Number.NaN, Number.POSITIVE_INFINITY])("page %d is refused", (page) => {
    expect(() => pageOf([1], { page, pageSizeBytes: 100 })).toThrow(refused(/whole number/));
  });

  test.each([0, -1, 1.5, Number.NaN])("a page size of %d is refused", (pageSizeBytes) => {
    expect(() => pageOf([1], { page: 1, pageSizeBytes })).toThrow(refused(/whole number of bytes/));
  });
});

describe("an object is turned by one of its lists", () => {
  test("the small fields beside it are on every page, and so is _pagination", () => {
    const document = scene(40);
    const index = indexOf(document, undefined, 2000);
    const second = readPage(document, index, 2);
    const [start = 0, end = 0] = startsOf(index).slice(1);
    expect(second.data).toEqual({
      scene: "Main",
      isDirty: false,
      hierarchy: document.hierarchy.slice(start, end),
      _pagination: {
        field: "hierarchy",
        start_index: start,
        end_index: end,
        total_items: 40,
        total_pages: index.pages.length,
      },
    });
    expect(end - start).toBeGreaterThan(5);
  });

  test("the list that takes most bytes is turned, not the first or the one with most items", () => {
    const document = { flags: [1, 2, 3, 4, 5], roots: ["x".repeat(500)], tags: ["a", "b"] };
    expect(pageOf(document, { page: 1, pageSizeBytes: 400 }).pagination.field).toBe("roots");
  });

  test("of two equally large lists the first is turned", () => {
    expect(pageOf({ n: 1, b: [12, 3], a: [4, 56] }, { page: 1, pageSizeBytes: 20 }).pagination.field).toBe(
      "b",
    );
  });

  test("a path chooses another list, and the other fields stay", () => {
    const document = { ...scene(3), tags: ["a", "b"] };
    const { data, pagination } = pageOf(document, { page: 1, pageSizeBytes: 5000, path: "tags" });
    expect(data).toMatchObject({ scene: "Main", tags: ["a", "b"], hierarchy: document.hierarchy });
    expect(pagination).toMatchObject({ field: "tags", total_items: 2, total_pages: 1 });
  });

  test("fields too large for every page are named with their sizes instead", () => {
    const lightmap = "x".repeat(3000);
    const { data, pagination } = pageOf({ lightmap, ...scene(40) }, { page: 1, pageSizeBytes: 2000 });
    expect(data).not.toHaveProperty("lightmap");
    expect(data).toHaveProperty("scene", "Main");
    expect(pagination.omitted_fields).toEqual([{ field: "lightmap", bytes: 3002 + '"lightmap":,'.length }]);
    expect(pagination.omitted_field_count).toBe(1);
  });

  test("a thousand other fields do not fill the pages: ten of the omitted are named, all are counted", () => {
    const others = Object.fromEntries(Array.from({ length: 1000 }, (_, at) => [`setting${at}`, at]));
    const { data, pagination } = pageOf({ ...others, ...scene(40) }, { page: 1, pageSizeBytes: 2000 });
    expect(pagination.omitted_fields).toHaveLength(10);
    const kept = Object.keys(data as object).length - 2;
    expect(pagination.omitted_field_count).toBe(1000 + 2 - kept);
    expect(writtenBytes(data)).toBeLessThanOrEqual(2000);
  });

  test("when everything fits on one page, large fields stay too", () => {
    const document = { lightmap: "x".repeat(1000), ...scene(2) };
    const { data, pagination } = pageOf(document, { page: 1, pageSizeBytes: 2000 });
    expect(data).toMatchObject(document);
    expect(pagination).not.toHaveProperty("omitted_fields");
  });

  test("the numbers in _pagination grow from page to page, and no page outgrows its size by them", () => {
    const document = { items: Array.from({ length: 2000 }, () => 1) };
    for (const size of [150, 200, 201, 202]) {
      for (const { data } of allPages(document, indexOf(document, undefined, size))) {
        expect(writtenBytes(data)).toBeLessThanOrEqual(size);
      }
    }
  });

  test("an empty list is one page with the fields beside it", () => {
    expect(pageOf({ scene: "Main", hierarchy: [] }, { page: 1, pageSizeBytes: 1000 }).data).toEqual({
      scene: "Main",
      hierarchy: [],
      _pagination: { field: "hierarchy", start_index: 0, end_index: 0, total_items: 0, total_pages: 1 },
    });
  });

  test("a document with its own _pagination loses no items to ours", () => {
    const page = pageOf({ _pagination: [1, 2, 3] }, { page: 1, pageSizeBytes: 1000 });
    expect(page.pagination.field).toBe('["_pagination"]');
    expect(itemsOf(page)).toEqual([1, 2, 3]);
    expect(
      pageOf({ _pagination: "old", a: [1] }, { page: 1, pageSizeBytes: 1000 }).pagination.omitted_fields,
    ).toEqual([{ field: "_pagination", bytes: 20 }]);
  });
});

describe("a list further down, without a path", () => {
  test("is found below objects if it is most of the document", () => {
    const wrapped = { success: true, warnings: [], data: scene(40) };
    const page = pageOf(wrapped, { page: 2, pageSizeBytes: 2000 });
    expect(page.pagination.field).toBe("data.hierarchy");
    expect(itemsOf(page).length).toBeGreaterThan(5);
  });

  test("is not looked for more than 32 levels down", () => {
    const below = (levels: number) =>
      JSON.parse(`${'{"a":'.repeat(levels)}[${"1,".repeat(2000)}1]${"}".repeat(levels)}`) as unknown;
    expect(pageOf(below(32), { page: 1, pageSizeBytes: 1000 }).pagination.total_items).toBe(2001);
    expect(() => pageOf(below(33), { page: 1, pageSizeBytes: 1000 })).toThrow(refused(/no list/));
  });

  test("nothing of a document that fits is left out for it", () => {
    const wrapped = { success: true, data: { hierarchy: [1, 2, 3] } };
    expect(pageOf(wrapped, { page: 1, pageSizeBytes: 1000 }).data).toEqual(wrapped);
  });
});

describe("a document without a list", () => {
  test("is one page when it fits", () => {
    const pagination = { start_index: 0, end_index: 1, total_items: 1, total_pages: 1 };
    for (const document of ["text", 12, null, true, { a: 1 }, {}]) {
      expect(pageOf(document, { page: 1, pageSizeBytes: 100 })).toEqual({
        page: 1,
        data: document,
        pagination,
      });
    }
    expect(pageOf("text", { page: 2, pageSizeBytes: 100 })).toEqual({
      page: 2,
      data: null,
      pagination: { ...pagination, start_index: 1 },
    });
  });

  test("is refused when it does not fit, and the message says what to ask instead", () => {
    expect(() => pageOf("ä".repeat(500), { page: 1, pageSizeBytes: 1000 })).toThrow(
      refused(/is a string, takes 1002 bytes.*jq/),
    );
    expect(() => pageOf({ log: "x".repeat(5000) }, { page: 1, pageSizeBytes: 1000 })).toThrow(
      refused(/has the keys "log", takes 5010 bytes.*fields.*jq/),
    );
  });

  test("objects in objects are no list: the lists in them are each a small part", () => {
    const byId = Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`id${at}`, gameObject(at)]));
    expect(() => pageOf(byId, { page: 1, pageSizeBytes: 1000 })).toThrow(refused(/has the keys "id0"/));
  });
});

describe("whatever the document", () => {
  const sizes = fc.integer({ min: 1, max: 400 });

  test("every item is on exactly one page, in order, and a page is no larger than asked unless it is one item", () => {
    fc.assert(
      fc.property(fc.array(anyItem), sizes, (document, size) => {
        const pages = allPages(document, indexOf(document, undefined, size));
        expect(pages.flatMap(itemsOf)).toEqual(document);
        for (const page of pages) {
          expect(writtenBytes(page.data) <= size || itemsOf(page).length === 1 || document.length === 0).toBe(
            true,
          );
          expect(document.length === 0 || itemsOf(page).length > 0).toBe(true);
        }
      }),
    );
  });

  test("the same for a list in an object, with _pagination and the kept fields counted", () => {
    fc.assert(
      fc.property(fc.array(anyItem), fieldsBeside("items"), sizes, (items, others, size) => {
        const document = { ...others, items };
        const pages = allPages(document, indexOf(document, "items", size));
        expect(pages.flatMap(itemsOf)).toEqual(items);
        for (const page of pages) {
          const { data, pagination } = page;
          expect(writtenBytes(data) <= size || itemsOf(page).length <= 1).toBe(true);
          const kept = Object.keys(data as object).length - 2;
          expect(kept + (pagination.omitted_field_count ?? 0)).toBe(Object.keys(others).length);
        }
      }),
    );
  });

  test("no page could hold the next page's first item as well", () => {
    fc.assert(
      fc.property(fc.array(anyItem), sizes, (document, size) => {
        const pages = allPages(document, indexOf(document, undefined, size)).map(itemsOf);
        for (const [at, items] of pages.entries()) {
          const next = pages[at + 1]?.[0];
          if (next !== undefined) expect(writtenBytes([...items, next])).toBeGreaterThan(size);
        }
      }),
    );
  });

  test("a page is the same for every caller, in any order, with an index that went through JSON", () => {
    fc.assert(
      fc.property(fc.array(anyItem), sizes, fc.integer({ min: -1, max: 20 }), (items, size, page) => {
        const document = { items, other: [] };
        const index = JSON.parse(JSON.stringify(indexOf(document, "items", size))) as PageIndex;
        const asked = { page, pageSizeBytes: size, path: "items" };
        expect(readPage(document, index, page)).toEqual(pageOf(document, asked));
      }),
    );
  });

  test("10 000 levels do not overflow the stack", () => {
    const deep = Buffer.from(nested(10_000));
    const page = pageOf(Buffer.from(`[${deep},1]`), { page: 1, pageSizeBytes: 1000 });
    expect(itemsOf(page)).toHaveLength(1);
    expect(pageOf(deep, { page: 1, pageSizeBytes: 1000 }).pagination.field).toBe("children");
    const path = Array.from({ length: 9_999 }, () => "children[0]").join(".");
    expect(itemsOf(pageOf(deep, { page: 1, pageSizeBytes: 1000, path: `${path}.children` }))).toEqual([]);
    const objects = Buffer.from(`${'{"a":'.repeat(10_000)}[1]${"}".repeat(10_000)}`);
    expect(() => pageOf(objects, { page: 1, pageSizeBytes: 1000 })).toThrow(refused(/no list/));
  });
});
