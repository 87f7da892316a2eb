import StreamingEngine
import Testing

@Suite struct BoundedCacheTests {
    private static func cache(
        _ costs: [Int],
        limit: Int = 100,
        maximumValueCount: Int = 10
    ) -> BoundedCache<Int, String> {
        var cache = BoundedCache<Int, String>(limit: limit, mostValues: maximumValueCount)
        for (key, cost) in costs.enumerated() { cache.insert("\(key)", for: key, cost: cost) }
        return cache
    }

    private static func keys(_ cache: BoundedCache<Int, String>) -> [Int] {
        (0..<20).filter { cache.peek($0) != nil }
    }

    @Test func theLeastRecentlyUsedValueIsRemovedFirst() {
        var cache = Self.cache([40, 40, 20])
        #expect(Self.keys(cache) == [0, 1, 2] && cache.cost == 100)
        #expect(cache.value(for: 0) == "0")
        cache.insert("3", for: 3, cost: 1)
        #expect(Self.keys(cache) == [0, 2, 3] && cache.cost == 61)
        cache.insert("4", for: 4, cost: 41)
        #expect(Self.keys(cache) == [0, 3, 4] && cache.cost == 82)
    }

    @Test func peekingDoesNotMarkAValueAsUsed() {
        var cache = Self.cache([50, 50])
        #expect(cache.peek(0) == "0")
        cache.insert("2", for: 2, cost: 50)
        #expect(Self.keys(cache) == [1, 2])
    }

    @Test func theNumberOfValuesIsLimited() {
        #expect(Self.keys(Self.cache([0, 0, 0, 0], maximumValueCount: 3)) == [1, 2, 3])
        #expect(Self.cache([1, 1], maximumValueCount: 0).count == 1)
    }

    @Test func aValueThatCostsMoreThanTheLimitIsNotStored() {
        var cache = Self.cache([10])
        cache.insert("1", for: 1, cost: 101)
        #expect(Self.keys(cache) == [0])
        cache.insert("1", for: 1, cost: 100)
        #expect(Self.keys(cache) == [1] && cache.cost == 100)
        cache.insert("x", for: 1, cost: 101)
        #expect(cache.count == 0 && cache.cost == 0)
    }

    @Test func aValueReplacesTheFormerOneOfTheSameKey() {
        var cache = Self.cache([30, 30])
        cache.insert("new", for: 0, cost: 60)
        #expect(cache.value(for: 0) == "new" && cache.cost == 90 && cache.count == 2)
        cache.insert("2", for: 2, cost: 20)
        #expect(Self.keys(cache) == [0, 2])
    }

    @Test func removedValuesCostNothing() {
        var cache = Self.cache([10, 20, 30])
        #expect(cache.removeValue(for: 1) == "1" && cache.removeValue(for: 1) == nil)
        #expect(cache.cost == 40 && Self.keys(cache) == [0, 2])
        #expect(cache.removeValue(for: 2) == "2" && cache.removeValue(for: 0) == "0")
        #expect(cache.count == 0 && cache.value(for: 0) == nil)
        cache.insert("a", for: 5, cost: 100)
        #expect(Self.keys(cache) == [5])
    }

    @Test func manyUsesKeepTheOrder() {
        var cache = BoundedCache<Int, String>(limit: 10, mostValues: 100)
        var order: [Int] = []
        var state: UInt32 = 7
        for _ in 0..<2_000 {
            state = state &* 1_664_525 &+ 1_013_904_223
            let key = Int(state >> 24) % 20
            if state & 1 == 0 {
                if cache.value(for: key) != nil {
                    order.removeAll { $0 == key }
                    order.append(key)
                }
            } else {
                cache.insert("\(key)", for: key, cost: 1)
                order.removeAll { $0 == key }
                order.append(key)
                if order.count > 10 { order.removeFirst() }
            }
            #expect(Self.keys(cache) == order.sorted() && cache.cost == order.count)
        }
    }
}
