import MediaDecoding
import MediaTiming
import Synchronization
import Testing

@testable import MediaOutput

@Suite struct VideoOutputStackTests {
    private final class Screen: VideoOutput {
        let log = Mutex<[String]>([])
        var entries: [String] { log.withLock { $0 } }
        func show(_ frame: VideoFrame) { log.withLock { $0.append("\(frame.time)") } }
        func clear() { log.withLock { $0.append("clear") } }
        func finish() { log.withLock { $0.append("finish") } }
    }

    @Test func newestOutputReceivesFramesUntilItIsDetached() throws {
        let stack = VideoOutputStack()
        let (first, second) = (Screen(), Screen())
        try stack.attach(first)
        try stack.show(TestFrames.frame(at: 1000))
        let attachment = try stack.attach(second)
        try stack.show(TestFrames.frame(at: 2000))
        try stack.detach(attachment)
        try stack.detach(attachment)
        try stack.show(TestFrames.frame(at: 3000))
        #expect(first.entries == ["1", "clear", "2", "3"])
        #expect(second.entries == ["1", "2", "clear"])
    }

    @Test func detachingAnInactiveOutputHasNoEffect() throws {
        let stack = VideoOutputStack()
        let (first, second) = (Screen(), Screen())
        let attachment = try stack.attach(first)
        try stack.attach(second)
        try stack.show(TestFrames.frame(at: 1000))
        try stack.detach(attachment)
        #expect(second.entries == ["1"])
    }

    @Test func stackIsReadyForDisplayFromTheFirstFrameUntilCleared() throws {
        let stack = VideoOutputStack()
        #expect(!stack.isReadyForDisplay)
        try stack.attach(Screen())
        #expect(!stack.isReadyForDisplay)
        try stack.show(TestFrames.frame(at: 0))
        #expect(stack.isReadyForDisplay)
        stack.clear()
        #expect(!stack.isReadyForDisplay)
    }

    @Test func allOutputsAreFinishedEvenIfOneFails() throws {
        let stack = VideoOutputStack()
        let screen = Screen()
        try stack.attach(screen)
        try stack.attach(PNGFrameOutput(.times([(MediaTime(seconds: 9), "/nowhere/a.png")])))
        let error = #expect(throws: OutputError.self) { try stack.finish() }
        #expect(error?.code == .noFrame)
        #expect(screen.entries.last == "finish")
    }

    @Test func callbackReceivesFramesWithTheirTimes() throws {
        let times = Mutex<[MediaTime]>([])
        let output = CallbackVideoOutput(onFrame: { frame in times.withLock { $0.append(frame.time) } })
        try output.show(TestFrames.frame(at: 40))
        #expect(times.withLock { $0 } == [MediaTime(value: 1, timescale: 25)])
    }
}
