import MediaTiming
import ResourceAddressing
import SeededRandomness
import Testing

@testable import Millstream

/// Tests interstitials under random events: the state stays consistent, and the effects of each observation end.
@Suite struct InterstitialScenarioTests {
    @Test func stateStaysConsistentUnderRandomEvents() throws {
        var played = 0
        for seed in UInt64(1)...200 {
            var scenario = Scenario(seed: seed)
            for _ in 0..<150 {
                scenario.applyRandomEvent()
                var rounds = 0
                while !scenario.transcript.observe().isEmpty, rounds < 60 { rounds += 1 }
                // Enough rounds for a break whose interstitials fail one after the other, and for its resumption.
                try #require(rounds < 60, "the effects do not end with seed \(seed)")
                let problems = scenario.problems
                try #require(problems.isEmpty, "\(problems) with seed \(seed)")
            }
            played += scenario.played
        }
        #expect(played > 1000)
    }

    /// A player with interstitials that receives random events.
    private struct Scenario {
        var transcript = InterstitialTranscript()
        var played = 0
        private var random: SeededGenerator
        private var events: [InterstitialEvent] = []
        private var seconds = 0.0
        private var item = 1

        init(seed: UInt64) {
            random = SeededGenerator(seed: seed)
            schedule()
        }

        private mutating func pick(_ range: Range<Int>) -> Int { Int.random(in: range, using: &random) }

        private mutating func flip() -> Bool { Bool.random(using: &random) }

        private mutating func schedule() {
            events = (0..<pick(0..<6)).map { _ in makeEvent() }
            _ = transcript.handle(.scheduled(events))
        }

        private mutating func makeEvent() -> InterstitialEvent {
            // Identifiers recur in several schedules, and events share positions.
            let id = "\(pick(0..<8))"
            let list = InterstitialEvent.Content.list(ResourceAddress("https://example.com/\(id).json"))
            let address = InterstitialEvent.Content.address(ResourceAddress("https://example.com/\(id).m3u8"))
            var event = InterstitialEvent(
                id: id,
                at: MediaTime(seconds: Int64(pick(0..<7) * 10)),
                flip() ? list : flip() ? address : .assets([])
            )
            event.cue = [.none, .none, .none, .joinPrimary, .leavePrimary][pick(0..<5)]
            event.willPlayOnce = pick(0..<4) == 0
            if flip() { event.resumptionOffset = MediaTime(seconds: Int64(pick(-10..<20))) }
            if pick(0..<3) == 0 { event.playoutLimit = MediaTime(seconds: Int64(pick(0..<15))) }
            if flip() { event.restrictions.insert(.constrainsSeekingForwardInPrimaryContent) }
            if flip() { event.restrictions.insert(.requiresPlaybackAtPreferredRateForAdvancement) }
            if flip() { event.skipControl = .init(offset: MediaTime(seconds: Int64(pick(0..<5)))) }
            return event
        }

        mutating func applyRandomEvent() {
            seconds += Double(pick(0..<80)) / 10
            transcript.wait(until: seconds)
            switch pick(0..<20) {
            case 0: transcript.movePrimary(to: Double(pick(0..<60)))
            case 1: transcript.setPrimaryRate([0, 1, 1, 2, -1][pick(0..<5)])
            case 2: transcript.players.primary.playback.isSeeking.toggle()
            case 3: schedule()
            case 4: _ = transcript.handle(.scheduled(nil))
            case 5: if let id = transcript.machine.state.currentEvent?.id { _ = transcript.handle(.skip(id)) }
            case 6:
                if let id = transcript.machine.state.currentEvent?.id {
                    let offset = flip() ? nil : MediaTime(seconds: Int64(pick(-5..<20)))
                    _ = transcript.handle(.cancel(id, resumptionOffset: offset))
                }
            case 7: transcript.failItem()
            case 8, 9: transcript.endItem(after: Double(pick(0..<12)))
            case 10: transcript.stallItem()
            case 11: rejectItem()
            case 12, 13: endSeeks()
            case 14, 15: respondToLists()
            case 16: reachEnd()
            case 17: replaceItem()
            default: seconds += Double(pick(0..<90))
            }
            transcript.wait(until: seconds)
            if transcript.machine.state.currentEvent != nil { played += 1 }
        }

        private mutating func rejectItem() {
            guard let number = transcript.players.queue.items.keys.max() else { return }
            transcript.players.queue.items[number] = nil
            if transcript.players.queue.current == number { transcript.players.queue.current = nil }
            _ = transcript.handle(.itemRejected(number, PlayerError(.notLoaded, "not allowed")))
        }

        private mutating func endSeeks() {
            guard let request = transcript.seeks.min() else { return }
            let target = MediaTime(seconds: Int64(pick(0..<60)))
            transcript.movePrimary(to: target.seconds)
            _ = transcript.handle(
                .seekEnded(request: request, SeekResult(isFinished: flip(), position: target))
            )
        }

        private mutating func respondToLists() {
            guard let request = transcript.loads.min() else { return }
            let json = "{\"ASSETS\": [{\"URI\": \"b.m3u8\"}, {\"URI\": \"c.m3u8\"}]}"
            let list = try? InterstitialAssetList(Array(json.utf8), at: ResourceAddress("https://example.com/l.json"))
            let failure = PlayerError(.notLoaded, "no list")
            let result = list.flatMap { flip() ? Result.success($0) : nil } ?? .failure(failure)
            _ = transcript.handle(.listLoaded(request: request, result))
        }

        private mutating func reachEnd() {
            transcript.players.primary.playback.hasPlayedToEnd.toggle()
            if transcript.players.primary.playback.hasPlayedToEnd { transcript.movePrimary(to: 60) }
        }

        private mutating func replaceItem() {
            item += 1
            transcript.replacePrimaryItem(pick(0..<5) == 0 ? nil : item)
            transcript.players.primary.playback.hasPlayedToEnd = false
            transcript.players.primary.playback.isSeeking = false
        }

        /// The descriptions of the invariants that the state violates after all effects were performed.
        var problems: [String] {
            let primary = transcript.players.primary
            let current = transcript.machine.state.currentEvent
            var problems: [String] = []
            if current != nil, !primary.isSuspended { problems.append("an interstitial plays over the item") }
            if transcript.forbidsAdvancing != (current?.forbidsAdvancing ?? false) {
                problems.append("restrictions do not match the event")
            }
            if current == nil, primary.isSuspended, transcript.seeks.isEmpty, primary.rate > 0, primary.item != nil,
                !primary.playback.isSeeking
            {
                problems.append("the item is suspended for nothing")
            }
            if current == nil, transcript.players.queue.rate != 0 { problems.append("the queue plays on") }
            if primary.item == nil, !transcript.machine.state.events.isEmpty {
                problems.append("events without an item")
            }
            if primary.item == nil, !transcript.loads.isEmpty || !transcript.seeks.isEmpty {
                problems.append("requests without an item")
            }
            if transcript.seeks.count > 1 { problems.append("two seeks at once") }
            if current != nil, !transcript.seeks.isEmpty { problems.append("a seek during an interstitial") }
            return problems
        }
    }
}
