import MediaTiming
import StreamingEngine
import Testing

@testable import Millstream

@Suite struct HubTests {
    private struct Refusal: Error {}

    private func publish(_ events: some Sequence<Int> & Sendable, in hub: Hub<Int, Int>) {
        hub.update { state, published in
            state += 1
            published += events
        }
    }

    private func events(of updates: EventUpdates<Int>) async -> [Int] {
        var events: [Int] = []
        for await event in updates { events.append(event) }
        return events
    }

    // MARK: Listeners

    @Test(arguments: [(1, 0), (1_024, 0), (1_025, 256), (1_280, 256), (1_281, 257), (3_000, 1_976)])
    func theOldestEventsAreDroppedInBlocks(count: Int, dropped: Int) {
        let hub = Hub<Int, Int>(0)
        let id = hub.addListener { _ in true }
        publish(0..<count, in: hub)
        let taken = hub.takeEvents(of: id)
        #expect(taken.dropped == dropped)
        #expect(taken.events == Array(dropped..<count))
        let rest = hub.takeEvents(of: id)
        #expect(rest.dropped == 0 && rest.events == [])
    }

    @Test func droppedEventsAddUp() {
        let hub = Hub<Int, Int>(0)
        let id = hub.addListener { _ in true }
        for _ in 0..<2 { publish(0..<1_025, in: hub) }
        let taken = hub.takeEvents(of: id)
        // The second time, 769 events are left from the first.
        #expect(taken.dropped == 256 + 770)
        #expect(taken.events == Array(1..<1_025))
    }

    @Test func onlyWantedEventsAreBuffered() {
        let hub = Hub<Int, Int>(0)
        let even = hub.addListener { $0.isMultiple(of: 2) }
        let none = hub.addListener { _ in false }
        publish(0..<2_048, in: hub)
        let taken = hub.takeEvents(of: even)
        #expect(taken.dropped == 0)
        #expect(taken.events == Array(stride(from: 0, to: 2_048, by: 2)))
        #expect(hub.takeEvents(of: none).events == [])
    }

    @Test func aRemovedListenerReceivesNothing() {
        let hub = Hub<Int, Int>(0)
        let removed = hub.addListener { _ in true }
        let kept = hub.addListener { _ in true }
        #expect(removed != kept)
        hub.removeListener(removed)
        publish(0..<3, in: hub)
        #expect(hub.takeEvents(of: removed).events == [])
        #expect(hub.takeEvents(of: kept).events == [0, 1, 2])
    }

    @Test func aChangeThatFailsDeliversNoEvents() {
        let hub = Hub<Int, Int>(0)
        let id = hub.addListener { _ in true }
        let version = hub.version
        #expect(throws: Refusal.self) {
            try hub.update { _, published throws(Refusal) in
                published.append(1)
                throw Refusal()
            }
        }
        #expect(hub.takeEvents(of: id).events == [])
        #expect(hub.version == version)
        publish([2], in: hub)
        #expect(hub.takeEvents(of: id).events == [2])
        #expect(hub.version > version)
    }

    @Test func aFinishedHubIsReadToItsEnd() async {
        let hub = Hub<Int, Int>(7)
        let before = hub.read()
        #expect(before.state == 7 && !before.isFinished)
        hub.finish()
        let after = hub.read()
        #expect(after.state == 7 && after.isFinished)
        #expect(after.version > before.version)
        // There will be no further change to wait for.
        await hub.wait(after: after.version)
        var states: [Int] = []
        for await state in StateUpdates(hub, { $0 * 2 }) { states.append(state) }
        #expect(states == [14])
    }

    // MARK: Sequences

    @Test func eventsBeginAtTheCreationOfTheSequence() async {
        let hub = Hub<Int, Int>(0)
        publish(0..<3, in: hub)
        let updates = EventUpdates<Int>(hub, dropped: { -$0 }, { $0 })
        publish(3..<5, in: hub)
        hub.finish()
        #expect(await events(of: updates) == [3, 4])
    }

    @Test func theNumberOfDroppedEventsPrecedesTheOthers() async {
        let hub = Hub<Int, Int>(0)
        let updates = EventUpdates<Int>(hub, dropped: { -$0 }, { $0 })
        let unaware = EventUpdates<Int>(hub, dropped: { _ in nil }, { $0 })
        publish(0..<1_025, in: hub)
        hub.finish()
        #expect(await events(of: updates) == [-256] + Array(256..<1_025))
        #expect(await events(of: unaware) == Array(256..<1_025))
    }

    @Test func eventsWithoutACounterpartAreOmitted() async {
        let hub = Hub<Int, Int>(0)
        let updates = EventUpdates<Int>(hub, dropped: { -$0 }, { $0.isMultiple(of: 2) ? $0 * 10 : nil })
        publish(0..<2_047, in: hub)
        hub.finish()
        #expect(await events(of: updates) == (0..<1_024).map { $0 * 20 })
    }

    @Test func mergedEventsAreInOrderAndEqualOnesInThatOfTheirSources() async {
        let hubs = [Hub<Int, Int>(0), Hub<Int, Int>(0)]
        let sources = hubs.map { EventUpdates<Int>($0, dropped: { -$0 }, { $0 }) }
        let merged = EventUpdates<Int>(merging: sources) { $0 / 10 < $1 / 10 }
        publish([30, 15], in: hubs[0])
        publish([12, 20, 11], in: hubs[1])
        for hub in hubs { hub.finish() }
        #expect(await events(of: merged) == [15, 12, 11, 20, 30])
    }

    // MARK: Commands

    private func steps(_ commands: CommandQueue, _ count: Int) async -> [Int?] {
        var steps: [Int?] = []
        for _ in 0..<count {
            if case .step(let step)? = await commands.next() { steps.append(step) } else { steps.append(nil) }
        }
        return steps
    }

    @Test func commandsAreExecutedInOrderUntilTheQueueIsClosed() async {
        let commands = CommandQueue()
        let areAdded = [1, 2, 3].map { commands.add(.step($0)) }
        #expect(areAdded == [true, true, true])
        #expect(await steps(commands, 2) == [1, 2])
        commands.close(at: .zero)
        let isAdded = commands.add(.step(4))
        #expect(!isAdded)
        #expect(await steps(commands, 2) == [nil, nil])
    }

    @Test func closingTheQueueInterruptsItsSeeks() async {
        let commands = CommandQueue()
        let targets: [Int64] = [1, 2, 3]
        let requests = targets.map { SeekRequest(.time(MediaTime(seconds: $0)), tolerance: .exact) }
        for request in requests { commands.add(.seek(request)) }
        let result = SeekResult(isFinished: true, position: MediaTime(seconds: 1))
        requests[0].complete(result)
        #expect(requests.map(\.isComplete) == [true, false, false])
        commands.close(at: MediaTime(seconds: 9))
        #expect(requests.map(\.isComplete) == [true, true, true])
        let interrupted = SeekResult(isFinished: false, position: MediaTime(seconds: 9))
        #expect(await requests[0].completion() == result)
        #expect(await requests[1].completion() == interrupted)
        #expect(await requests[2].completion() == interrupted)
        // A completed seek counts as started.
        await requests[2].waitUntilStarted()
    }

    @Test func aSeekIsCompletedOnce() async {
        let request = SeekRequest(.time(.zero), tolerance: .any)
        request.markStarted()
        await request.waitUntilStarted()
        #expect(!request.isComplete)
        for second in [1, 2] as [Int64] {
            request.complete(SeekResult(isFinished: true, position: MediaTime(seconds: second)))
        }
        #expect(await request.completion().position == MediaTime(seconds: 1))
    }

    // MARK: Sessions

    @Test func aSessionRunsOnce() async {
        let runs = Hub<Int, Never>(0)
        let session = ItemSession()
        for _ in 0..<2 {
            session.start(on: SystemTimeSource()) { _ in runs.update { count, _ in count += 1 } }
            await session.waitUntilEnded()
        }
        #expect(runs.state == 1)
        #expect(!session.isEnded)
    }

    @Test func anEndedSessionDoesNotStart() async {
        let runs = Hub<Int, Never>(0)
        let session = ItemSession()
        session.end(at: .zero)
        #expect(session.isEnded)
        session.start(on: SystemTimeSource()) { _ in runs.update { count, _ in count += 1 } }
        await session.waitUntilEnded()
        #expect(runs.state == 0)
        let isAdded = session.commands.add(.step(1))
        #expect(!isAdded)
    }
}
