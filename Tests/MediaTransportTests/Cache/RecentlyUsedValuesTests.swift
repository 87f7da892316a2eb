import MediaTiming
import MediaTransport
import Testing

/// Tests which values are removed when their total size is exceeded.
@Suite struct RecentlyUsedValuesTests {
    private func values(_ sizes: [Int], maximum: Int64 = 100) -> RecentlyUsedValues<Int, String> {
        var values = RecentlyUsedValues<Int, String>(maximumSize: ByteCount(maximum))
        for (key, size) in sizes.enumerated() { values.insert("\(key)", size: size, for: key) }
        return values
    }

    @Test func valuesWithinTheMaximumStay() {
        let values = values([40, 60])
        #expect(values.count == 2 && values.size == 100)
    }

    @Test func oldestValuesAreRemovedUntilAQuarterIsFree() {
        let values = values([20, 20, 20, 40, 1])
        // 101 is more than 100; 75 or less remain.
        #expect(values.size == 61)
        #expect((0..<5).map { values[$0] } == [nil, nil, "2", "3", "4"])
    }

    @Test func usedValuesStay() {
        var values = values([30, 30, 30])
        #expect(values.use(0) == "0")
        #expect(values.use(7) == nil)
        // A value that is only read does not count as used.
        #expect(values[1] == "1")
        values.insert("3", size: 20, for: 3)
        #expect((0..<4).map { values[$0] } == ["0", nil, nil, "3"])
        #expect(values.size == 50)
    }

    @Test func replacedAndRemovedValuesDoNotCount() {
        var values = values([50, 50])
        values.insert("new", size: 10, for: 0)
        #expect(values[0] == "new" && values.count == 2 && values.size == 60)
        values.remove(1)
        values.remove(1)
        #expect(values.count == 1 && values.size == 10)
    }

    @Test func lastValueStaysThoughItIsTooLarge() {
        let values = values([10, 500])
        #expect((0..<2).map { values[$0] } == [nil, "1"])
        #expect(values.size == 500)
    }
}
