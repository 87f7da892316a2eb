import MediaTiming
import NetworkConditioning
import Testing

@Suite struct LinkModelTests {
    private func profile(kilobits: Int64, milliseconds: Int64 = 0, loss: Double = 0) -> LinkProfile {
        let direction = LinkProfile.DirectionConditions(
            bandwidth: BitRate(bitsPerSecond: kilobits * 1_000),
            latency: .milliseconds(milliseconds),
            loss: loss
        )
        return LinkProfile(name: "test", down: direction, up: direction)
    }

    /// Sends bytes as one transfer, each piece as soon as the previous one has left the link.
    private func arrivals(
        _ link: inout LinkModel,
        bytes: Int,
        chunkSize: Int? = nil,
        from start: Duration = .zero,
        _ direction: LinkModel.Direction = .down
    ) -> [LinkModel.Transmission] {
        var (flow, rest, now) = (LinkModel.Flow(), bytes, start)
        var result: [LinkModel.Transmission] = []
        while rest > 0 {
            let size = min(rest, chunkSize ?? link.chunkSize(direction, at: now))
            let available = result.isEmpty ? start : nil
            guard let transmission = link.send(size, direction, of: &flow, availableAt: available, at: now) else {
                break
            }
            result.append(transmission)
            now = transmission.sendEnd
            rest -= size
        }
        return result
    }

    @Test(arguments: LinkProfile.presets.filter { $0.down.bandwidth != nil })
    func presetProvidesItsBandwidthInBothDirections(preset: LinkProfile) throws {
        for (direction, way) in [(LinkModel.Direction.down, preset.down), (.up, preset.up)] {
            var link = LinkModel(preset, startingAt: .zero)
            let rate = try #require(way.bandwidth).bitsPerSecond
            let bytes = Int(rate / 8 * 10)
            let last = try #require(arrivals(&link, bytes: bytes, direction).last)
            let seconds = (last.sendEnd - way.latency) / .seconds(1)
            #expect(abs(seconds - 10) < 0.001)
        }
    }

    @Test func latencyDelaysTransferOnceAndBandwidthDelaysEachPiece() throws {
        var link = LinkModel(profile(kilobits: 8_000, milliseconds: 100), startingAt: .zero)
        let passages = arrivals(&link, bytes: 3_000, chunkSize: 1_000)
        #expect(passages.map(\.arrival) == [.milliseconds(101), .milliseconds(102), .milliseconds(103)])
    }

    @Test func pieceAvailableLaterIsDelayedByLatencyAgain() throws {
        var link = LinkModel(profile(kilobits: 8_000, milliseconds: 100), startingAt: .zero)
        var flow = LinkModel.Flow()
        let first = try #require(link.send(1_000, .down, of: &flow, availableAt: .zero, at: .zero))
        let late = Duration.milliseconds(500)
        let second = try #require(link.send(1_000, .down, of: &flow, availableAt: late, at: late))
        #expect(first.arrival == .milliseconds(101) && second.arrival == .milliseconds(601))
    }

    @Test func transfersShareTheBandwidthEqually() throws {
        var link = LinkModel(profile(kilobits: 8_000), startingAt: .zero)
        var flows = [LinkModel.Flow](repeating: LinkModel.Flow(), count: 4)
        var due = [Duration](repeating: .zero, count: 4)
        var sent = [Int](repeating: 0, count: 4)
        // The transfer whose piece leaves first sends the next one, as transfers do that take turns.
        while let next = due.indices.min(by: { due[$0] < due[$1] }), due[next] < .seconds(1) {
            let transmission = try #require(link.send(1_000, .down, of: &flows[next], at: due[next]))
            due[next] = transmission.sendEnd
            sent[next] += 1_000
        }
        #expect(sent.allSatisfy { abs($0 - 250_000) <= 1_000 })
        // A transfer that starts later gets its share immediately.
        var newcomer = LinkModel.Flow()
        let transmission = try #require(
            link.send(1_000, .down, of: &newcomer, availableAt: .seconds(1), at: .seconds(1))
        )
        #expect(transmission.sendEnd <= .milliseconds(1_005))
    }

    @Test func slackCompensatesForLateTimers() throws {
        var strict = LinkModel(profile(kilobits: 8_000), startingAt: .zero)
        var lenient = LinkModel(profile(kilobits: 8_000), startingAt: .zero, timerTolerance: .milliseconds(20))
        var (first, second) = (LinkModel.Flow(), LinkModel.Flow())
        var (strictNow, lenientNow) = (Duration.zero, Duration.zero)
        for count in 1...100 {
            let transmission = try #require(strict.send(5_000, .down, of: &first, at: strictNow))
            strictNow = transmission.sendEnd + .milliseconds(2)
            let better = try #require(lenient.send(5_000, .down, of: &second, at: lenientNow))
            lenientNow = better.sendEnd + .milliseconds(2)
            #expect(better.sendEnd == .milliseconds(5 * count))
        }
        #expect(strictNow == .milliseconds(700), "each wait that ends late would add up")
    }

    @Test func pauseLongerThanSlackIsNotCompensated() throws {
        var link = LinkModel(profile(kilobits: 8_000), startingAt: .zero, timerTolerance: .milliseconds(20))
        var flow = LinkModel.Flow()
        _ = link.send(1_000, .down, of: &flow, at: .zero)
        let transmission = try #require(link.send(1_000, .down, of: &flow, at: .seconds(5)))
        #expect(transmission.sendEnd == .milliseconds(4_981))
    }

    @Test func traceIsFollowedExactlyAndRepeats() throws {
        func period(_ milliseconds: Int64, _ kilobits: Int64, _ latency: Int64) -> LinkTrace.Period {
            LinkTrace.Period(
                duration: .milliseconds(milliseconds),
                bandwidth: BitRate(bitsPerSecond: kilobits * 1_000),
                latency: .milliseconds(latency)
            )
        }
        let trace = try #require(LinkTrace([period(1_000, 800, 50), period(500, 0, 20), period(1_000, 1_600, 10)]))
        #expect(trace.duration == .milliseconds(2_500) && trace.meanBandwidth.bitsPerSecond == 960_000)
        var link = LinkModel(LinkProfile(name: "t", trace: trace), startingAt: .seconds(7))
        // After the latency, 95,000 bytes use the rest of the first period and 20,000 wait for the third; the rest of
        // the third and the next first period carry 200,000 - 20,000 and then 100,000.
        let sizes = [95_000, 20_000, 180_000, 100_000]
        var (flow, now) = (LinkModel.Flow(), Duration.seconds(7))
        var leaves: [Duration] = []
        for size in sizes {
            let available = leaves.isEmpty ? now : nil
            let transmission = try #require(link.send(size, .down, of: &flow, availableAt: available, at: now))
            now = transmission.sendEnd
            leaves.append(now - .seconds(7))
        }
        #expect(leaves == [.milliseconds(1_000), .milliseconds(1_600), .milliseconds(2_500), .milliseconds(3_500)])
        #expect(link.latency(.down, at: .seconds(7) + .milliseconds(4_000)) == .milliseconds(10))
        #expect(link.latency(.up, at: .seconds(7)) == .zero)
    }

    @Test func hugePieceSkipsWholeRepetitionsOfTrace() throws {
        let period = LinkTrace.Period(duration: .milliseconds(1), bandwidth: BitRate(bitsPerSecond: 8))
        let trace = try #require(LinkTrace([period, period, period]))
        var link = LinkModel(LinkProfile(name: "t", trace: trace), startingAt: .zero)
        var flow = LinkModel.Flow()
        let transmission = try #require(link.send(1_000_000, .down, of: &flow, at: .zero))
        #expect(transmission.sendEnd == .seconds(1_000_000))
    }

    @Test func outageStopsTransfers() throws {
        let outage = LinkProfile.Outage(start: .seconds(1), duration: .seconds(3), interval: .seconds(10))
        var conditions = profile(kilobits: 8)
        conditions.outages = [outage]
        var link = LinkModel(conditions, startingAt: .zero)
        let leaves = arrivals(&link, bytes: 10_000, chunkSize: 1_000).map(\.sendEnd)
        #expect(leaves == [1, 5, 6, 7, 8, 9, 10, 11, 15, 16].map { .seconds($0) })
    }

    @Test func outageStopsLinkWithUnlimitedBandwidth() throws {
        var conditions = LinkProfile(name: "t")
        conditions.outages = [LinkProfile.Outage(start: .seconds(1), duration: .seconds(3))]
        var link = LinkModel(conditions, startingAt: .zero)
        var flow = LinkModel.Flow()
        let times = [0, 1, 3, 5].map { Duration.seconds($0) }
        let leaves = try times.map { try #require(link.send(1 << 20, .down, of: &flow, at: $0)).sendEnd }
        #expect(leaves == [.zero, .seconds(4), .seconds(4), .seconds(5)])
    }

    @Test func linkWithoutCapacityDeliversNoBytes() throws {
        let silent = try #require(
            LinkTrace([
                LinkTrace.Period(duration: .seconds(1), bandwidth: BitRate(bitsPerSecond: 0))
            ])
        )
        let lost = try #require(LinkProfile(preset: "100% Loss"))
        for conditions in [lost, profile(kilobits: 0), LinkProfile(name: "t", trace: silent)] {
            var link = LinkModel(conditions, startingAt: .zero)
            var flow = LinkModel.Flow()
            #expect(link.send(1, .down, of: &flow, at: .zero) == nil)
            // The link delivers again after its conditions change.
            link.change(to: .off, at: .seconds(1))
            #expect(link.send(1, .down, of: &flow, at: .seconds(1))?.arrival == .seconds(1))
        }
    }

    @Test func changedProfileAppliesImmediately() throws {
        var link = LinkModel(profile(kilobits: 8), startingAt: .zero)
        var flow = LinkModel.Flow()
        _ = link.send(1_000, .down, of: &flow, at: .zero)
        _ = link.send(60_000, .down, of: &flow, at: .seconds(1))
        link.change(to: profile(kilobits: 8_000), at: .seconds(2))
        var other = LinkModel.Flow()
        #expect(link.send(1_000, .down, of: &other, at: .seconds(2))?.sendEnd == .milliseconds(2_001))
    }

    @Test func packetLossDelaysBytesButKeepsOrderAndBandwidth() throws {
        let preset = try #require(LinkProfile(preset: "Very Bad Network"))
        var link = LinkModel(preset, startingAt: .zero, seed: 7)
        let passages = arrivals(&link, bytes: 12_500_000)
        #expect(zip(passages, passages.dropFirst()).allSatisfy { $0.arrival <= $1.arrival })
        let late = passages.filter { $0.arrival > $0.sendEnd }.count
        #expect(late > passages.count / 2, "at ten percent something is always being waited for")
        let lateness = passages.map { $0.arrival - $0.sendEnd }.max() ?? .zero
        #expect(lateness >= .seconds(1) && lateness < .seconds(60))
        let last = try #require(passages.last)
        #expect(abs(last.sendEnd / .seconds(1) - 100.5) < 0.01, "the link carries its bandwidth all the same")
    }

    @Test func sameSeedLosesSamePackets() {
        func run(_ seed: UInt64) -> [LinkModel.Transmission] {
            var link = LinkModel(profile(kilobits: 800, milliseconds: 30, loss: 0.2), startingAt: .zero, seed: seed)
            return arrivals(&link, bytes: 500_000)
        }
        #expect(run(1) == run(1) && run(1) != run(2))
    }

    @Test func heavyLossBreaksConnections() {
        var link = LinkModel(profile(kilobits: 8_000, loss: 0.7), startingAt: .zero)
        let passages = arrivals(&link, bytes: 1_460 * 2_000, chunkSize: 1_460)
        let broken = passages.filter(\.breaksConnection).count
        // The expected number is 2,000 × 0.7⁶: six consecutive losses break a connection.
        #expect((170...300).contains(broken))
    }

    @Test func piecesAreWholePackets() {
        func size(_ conditions: LinkProfile) -> Int {
            LinkModel(conditions, startingAt: .zero).chunkSize(.down, at: .zero)
        }
        #expect(size(profile(kilobits: 8)) == 1_460)
        #expect(size(profile(kilobits: 8_000)) == 4_380)
        #expect(size(profile(kilobits: 8_000_000)) == 65_536)
        #expect(size(.off) == 65_536)
    }

    @Test func extremeProfilesDoNotTrap() throws {
        let extremes: [Int64] = [0, 1, 999, 1_000_000_000_000, .max]
        for rate in extremes {
            for latency in [Duration.zero, .seconds(60), .seconds(Int64.max)] {
                let way = LinkProfile.DirectionConditions(
                    bandwidth: BitRate(bitsPerSecond: rate),
                    latency: latency,
                    loss: 0.5
                )
                let outage = LinkProfile.Outage(start: latency, duration: latency, interval: latency + .nanoseconds(1))
                let conditions = LinkProfile(name: "t", down: way, up: way, outages: [outage])
                var link = LinkModel(conditions, startingAt: .seconds(Int64.max / 2))
                var flow = LinkModel.Flow()
                for bytes in [-1, 0, 1, 1 << 20] {
                    _ = link.send(bytes, .down, of: &flow, availableAt: latency, at: .zero)
                    _ = link.send(bytes, .up, of: &flow, at: .seconds(Int64.max))
                }
                #expect(link.chunkSize(.down, at: .seconds(-5)) >= 1_460)
            }
        }
    }
}
