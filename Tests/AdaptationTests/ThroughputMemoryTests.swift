import MediaTiming
import Testing

@testable import Adaptation

@Suite struct ThroughputMemoryTests {
    private let now = Duration.seconds(1_790_000_000)
    private let rate = BitRate(bitsPerSecond: 4_000_000)

    @Test func estimateIsStoredPerNetwork() {
        var memory = ThroughputMemory()
        memory.store(rate, for: "home", now: now)
        memory.store(BitRate(bitsPerSecond: 1), for: "train", now: now)
        #expect(memory.estimate(for: "home", now: now) == rate)
        #expect(memory.estimate(for: "train", now: now)?.bitsPerSecond == 1)
        #expect(memory.estimate(for: "office", now: now) == nil)
        memory.store(BitRate(bitsPerSecond: 9), for: "home", now: now + .seconds(5))
        #expect(memory.estimate(for: "home", now: now)?.bitsPerSecond == 9)
    }

    @Test(
        arguments: [
            (0, 4_000_000), (86_400, 4_000_000), (86_401, 3_000_000), (30 * 86_400, 3_000_000), (30 * 86_400 + 1, nil),
            (-3_600, 4_000_000), (-90_000, 3_000_000), (-40 * 86_400, nil),
        ] as [(Int64, Int64?)]
    )
    func estimateIsReducedAndExpiresWithAge(seconds: Int64, expected: Int64?) {
        var memory = ThroughputMemory()
        memory.store(rate, for: "home", now: now)
        #expect(memory.estimate(for: "home", now: now + .seconds(seconds))?.bitsPerSecond == expected)
    }

    @Test func oldestNetworksAreRemoved() {
        var memory = ThroughputMemory()
        for index in 0..<100 { memory.store(rate, for: "network \(index)", now: now + .seconds(index)) }
        #expect(memory.entries.count == ThroughputMemory.maximumNetworkCount)
        #expect(memory.estimate(for: "network 35", now: now) == nil)
        #expect(memory.estimate(for: "network 36", now: now) == rate)
        // Even if stored times are in the future, the network that was used last is kept.
        memory.store(rate, for: "new", now: now - .seconds(1))
        #expect(memory.estimate(for: "new", now: now) == rate)
        #expect(memory.entries.count == ThroughputMemory.maximumNetworkCount)
    }

    @Test func outagesAndOverlongNamesAreNotStored() {
        var memory = ThroughputMemory()
        memory.store(BitRate(bitsPerSecond: 0), for: "home", now: now)
        memory.store(rate, for: String(repeating: "é", count: 128), now: now)
        #expect(memory.entries.isEmpty)
        memory.store(rate, for: String(repeating: "x", count: 255), now: now)
        #expect(memory.entries.count == 1)
    }

    @Test func memoryRoundTripsAsText() {
        var memory = ThroughputMemory()
        let names = ["", "home", "a\tb", "c\\d", "\\t", "e\nf", "g\r\nh", "\r", "Café 🚆", "\u{301}x", "\u{2028}", "\0"]
        for (index, name) in names.enumerated() { memory.store(rate, for: name, now: now - .seconds(index)) }
        #expect(memory.entries.count == names.count)
        let text = memory.text
        #expect(text.utf8.count { $0 == UInt8(ascii: "\n") } == names.count)
        #expect(ThroughputMemory(text: text) == memory)
        #expect(ThroughputMemory(text: text).text == text)
    }

    @Test func textHasOneLinePerNetwork() {
        var memory = ThroughputMemory()
        memory.store(rate, for: "home", now: .seconds(1_790_000_000.9))
        memory.store(BitRate(bitsPerSecond: 9), for: "the\ttrain", now: .seconds(1_790_000_007))
        #expect(memory.text == "the\\ttrain\t9\t1790000007\nhome\t4000000\t1790000000\n")
        #expect(ThroughputMemory().text.isEmpty)
    }

    @Test(arguments: [
        "home", "home\t1", "home\t1\t2\t3", "home\tx\t2", "home\t1\t", "home\t-1\t2", "home\t0\t2", "ho\\me\t1\t2",
        "home\\\t1\t2", "home\t99999999999999999999\t2", "home\t1\t1.5", "\t\t", "home 1 2",
    ])
    func invalidLinesAreSkipped(line: String) {
        let memory = ThroughputMemory(text: "\(line)\noffice\t7\t1790000000\r\n\n\(line)")
        #expect(memory.entries.keys.sorted() == ["office"])
        #expect(memory.estimate(for: "office", now: now)?.bitsPerSecond == 7)
    }

    @Test func newestLineOfNetworkApplies() {
        let memory = ThroughputMemory(text: "home\t1\t100\nhome\t3\t300\nhome\t2\t200\n")
        #expect(memory.estimate(for: "home", now: .seconds(300))?.bitsPerSecond == 3)
    }

    @Test func longTextKeepsNewestNetworks() {
        let text = (0..<1_000).map { "network \($0)\t5\t\($0)\n" }.shuffled().joined()
        let memory = ThroughputMemory(text: text)
        #expect(memory.entries.count == ThroughputMemory.maximumNetworkCount)
        #expect(memory.entries.values.allSatisfy { $0.secondsSince1970 >= 1_000 - 64 })
    }

    @Test func extremeTimesDoNotTrap() {
        let moments = [Duration(attoseconds: .max), Duration(attoseconds: .min), .zero, .seconds(Int64.min)]
        for kept in moments {
            var memory = ThroughputMemory(text: "home\t\(Int64.max)\t\(Int64.min)\n")
            memory.store(BitRate(bitsPerSecond: .max), for: "home", now: kept)
            for asked in moments { _ = memory.estimate(for: "home", now: asked) }
            #expect(ThroughputMemory(text: memory.text) == memory)
        }
    }
}
