import MediaTiming
import MillstreamTesting
import PlaybackReporting
import ResourceAddressing
import StreamingEngine
import Testing

@testable import Millstream

/// A simulated clock that reports its use.
struct ObservedTime: TimeSource {
    let base: Simulation
    /// A closure that runs before a task is started on the executor.
    var willStartTask: @Sendable () -> Void = {}
    /// A closure that receives the duration of each sleep.
    var willSleep: @Sendable (Duration) -> Void = { _ in }

    var now: Duration { base.now }

    var taskExecutor: (any TaskExecutor)? {
        willStartTask()
        return base.taskExecutor
    }

    func sleep(for duration: Duration) async throws {
        willSleep(duration)
        try await base.sleep(for: duration)
    }

    func schedule(after duration: Duration, _ action: @escaping @Sendable () -> Void) -> ScheduledAction {
        base.schedule(after: duration, action)
    }
}

/// Tests commands, seeks and sessions of engines that no other suite reaches.
@Suite struct EngineFaultTests {
    // MARK: Commands

    @Test func addedCommandsAreExecutedWhenTheQueueIsWoken() async throws {
        try await simulated { world in
            let commands = CommandQueue()
            let steps = Collected<Int>()
            let task = launch(on: world.simulation) {
                while case .step(let step)? = await commands.next() { steps.add(step) }
            }
            try await world.sleep(.seconds(1))
            // Without a command, the task continues to wait.
            commands.wake()
            try await world.sleep(.seconds(1))
            commands.add(.step(1))
            commands.add(.step(2))
            try await world.sleep(.seconds(1))
            #expect(steps.all == [])
            commands.wake()
            try await world.sleep(.seconds(1))
            #expect(steps.all == [1, 2])
            commands.close(at: .zero)
            await task.value
        }
    }

    @Test func laterCommandsFollowASynchronizedStart() async throws {
        try await simulated { world in
            let player = try Player(playerItem: world.item("a"))
            try await world.sleep(.seconds(2))
            #expect(player.setRate(1, time: nil, atHostTime: .seconds(2)))
            player.rate = 2
            player.rate = 0.5
            try await world.sleep(.seconds(1))
            #expect(
                world.engine(0)?.log == [
                    "2: setRate 1.0 from here at 2", "2: rate 1.0 at once", "2: rate 2.0", "2: rate 0.5",
                ]
            )
        }
    }

    @Test func laterCommandsFollowTheStartOfASeek() async throws {
        try await simulated { world in
            let item = world.item("a", Script(seekDuration: .seconds(5)))
            let player = try Player(playerItem: item)
            try await world.sleep(.seconds(2))
            let request = item.beginSeek(to: .time(MediaTime(seconds: 7)), tolerance: .exact)
            player.rate = 2
            try await world.sleep(.seconds(1))
            // They do not wait for its end.
            #expect(world.engine(0)?.log == ["2: seek 7 exactly", "2: rate 2.0"] && !request.isComplete)
            try await world.sleep(.seconds(5))
            #expect(request.isComplete && player.currentTime() > MediaTime(seconds: 7))
        }
    }

    /// Tests that the rate of the engine is adopted once the engine has executed all commands.
    @Test(arguments: [true, false]) func anEngineChangesTheRateAfterItsCommands(isSynchronized: Bool) async throws {
        try await simulated { world in
            let player = try Player(playerItem: world.item("a"))
            try await world.sleep(.seconds(2))
            let engine = try #require(world.engine(0))
            if isSynchronized {
                #expect(player.setRate(1, time: nil, atHostTime: .seconds(2)))
            } else {
                player.rate = 1
            }
            try await world.sleep(.milliseconds(100))
            #expect(player.rate == 1)
            await engine.updateSnapshot { $0.desiredRate = 0.5 }
            #expect(player.rate == 0.5)
        }
    }

    @Test func aCanceledEngineStartsNothing() async throws {
        try await simulated { world in
            let player = try Player(playerItem: world.item("a"))
            try await world.sleep(.seconds(2))
            let engine = try #require(world.engine(0))
            let commands = CommandQueue()
            let request = SeekRequest(.time(MediaTime(seconds: 5)), tolerance: .exact)
            let start = QueueStateMachine.SynchronizedStart(mediaTime: nil, hostTime: .seconds(3))
            commands.add(.setRate(1, .setRateCalled, atOnce: false, from: start))
            commands.add(.seek(request))
            let task = launch(on: world.simulation) { await engine.execute(commands, didSetRate: {}) }
            task.cancel()
            try await world.sleep(.seconds(1))
            #expect(engine.log == [] && !request.isComplete && player.rate == 0)
            commands.close(at: MediaTime(seconds: 4))
            await task.value
            #expect(await request.completion() == SeekResult(isFinished: false, position: MediaTime(seconds: 4)))
        }
    }

    @Test func theCompletionOfASeekEndsTheWaitForItsStart() async throws {
        try await simulated { world in
            let request = SeekRequest(.time(.zero), tolerance: .any)
            async let started: Void = request.waitUntilStarted()
            try await world.sleep(.milliseconds(1))
            request.complete(SeekResult(isFinished: false, position: .zero))
            await started
            #expect(request.isComplete)
        }
    }

    // MARK: Sessions

    @Test func aSessionThatEndsWhileItStartsIsCanceled() async throws {
        try await simulated { world in
            let session = ItemSession()
            let simulation = world.simulation
            let time = ObservedTime(base: simulation, willStartTask: { session.end(at: .zero) })
            let slept = Collected<Bool>()
            session.start(on: time) { _ in slept.add((try? await simulation.sleep(for: .seconds(9))) != nil) }
            await session.waitUntilEnded()
            #expect(slept.all == [false] && session.isEnded && world.now == .zero)
        }
    }

    // MARK: Pipelines

    @Test func aFailureOfThePipelineIsReportedOnce() async throws {
        let world = World(pipelineError: StreamingError(.pipelineLost, "no sound device"))
        try await simulated(world) { world in
            let item = world.item("a")
            let observed = Collected<PlaybackEvent>()
            item.addEventObserver { event, _ in observed.add(event) }
            try await world.sleep(.seconds(3))
            let player = try Player(playerItem: item)
            try await world.sleep(.seconds(1))
            let events = observed.all
            guard case .error(let record)? = events.first?.kind else {
                Issue.record("the first event is no error: \(events)")
                return
            }
            #expect(record.statusCode == -11_819 && record.domain == "Millstream" && !record.didRecover)
            #expect(record.comment.contains("no sound device") && record.address == "a")
            #expect(events.dropFirst().map(\.kind) == [.statusChanged(.failed), .ended])
            #expect(events.allSatisfy { $0.time == .seconds(3) && $0.mediaTime == nil })
            #expect(item.status == .failed && item.error?.code == .pipelineLost && player.status == .failed)
        }
    }

    @Test func aPipelineThatIsNoLongerNeededCannotFail() async throws {
        let world = World()
        let simulation = world.simulation
        var environment = world.environment
        environment.makePipeline = {
            try? await simulation.sleep(for: .seconds(5))
            throw StreamingError(.pipelineLost, "no sound device")
        }
        let asset = Asset(ResourceAddress("a"), environment: environment)
        try await simulated(world) { [asset] world in
            let item = PlayerItem(asset: asset)
            let observed = Collected<String>()
            item.addEventObserver { event, _ in observed.add(event.kind.name) }
            let player = try Player(playerItem: item)
            try await world.sleep(.seconds(1))
            try player.replaceCurrentItem(with: nil)
            try await world.sleep(.seconds(9))
            #expect(observed.all == [] && item.status == .unknown && player.status == .unknown)
        }
    }
}
