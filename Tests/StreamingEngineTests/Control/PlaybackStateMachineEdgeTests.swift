import MediaTiming
import PlaybackReporting
import ResourceAddressing
import Testing

@testable import StreamingEngine

/// Tests of the state machine of playback at the ends of the item, during seeks and pauses.
@Suite struct PlaybackStateMachineEdgeTests {
    private static func buffer(_ seconds: Double, suffices: Bool = false, reachesEnd: Bool = false) -> BufferState {
        var state = BufferState()
        state.bufferedDuration = .seconds(seconds)
        state.isSufficient = suffices
        state.reachesEnd = reachesEnd
        return state
    }

    private static let enough = buffer(10, suffices: true)

    /// Returns a state machine that is ready at 0 s and has enough media, with the given rate.
    private static func ready(_ rate: Double = 1) -> PlaybackStateMachine {
        var machine = PlaybackStateMachine(start: .zero)
        _ = machine.setRate(rate, at: .zero)
        _ = machine.becomeReady(at: .zero)
        _ = machine.bufferChanged(enough, variant: nil, at: .zero)
        return machine
    }

    // MARK: Ends

    @Test func aPauseAtTheEndDoesNotLeaveIt() {
        var machine = Self.ready()
        _ = machine.reachedEnd(pausing: true, at: .seconds(60))
        let paused = machine.setRate(0, at: .seconds(61))
        #expect(paused.isEmpty && machine.hasEnded)
    }

    @Test func theEndIsReachedOnlyDuringPlayback() {
        var preparing = PlaybackStateMachine(start: .zero)
        let early = preparing.reachedEnd(pausing: true, at: .seconds(1))
        #expect(early.isEmpty && !preparing.hasEnded)
        var seeking = Self.ready()
        _ = seeking.seekBegan(at: .seconds(1))
        let during = seeking.reachedEnd(pausing: true, at: .seconds(1))
        #expect(during.isEmpty && !seeking.hasEnded && seeking.desiredRate == 1)
    }

    @Test func aStallEndsAtTheEnd() {
        var machine = Self.ready()
        _ = machine.bufferChanged(Self.buffer(0), variant: nil, at: .seconds(5))
        let actions = machine.reachedEnd(pausing: false, at: .seconds(7))
        #expect(actions.first == .report(.stallEnded(after: .seconds(2))) && !machine.isStalled)
    }

    @Test func onlyThePauseAtTheStartIsAPauseThere() {
        let reason = RateChange.Reason.reversePlaybackReachedStartOfSeekableRange
        var machine = Self.ready(-1)
        #expect(!machine.isPausedAtStart)
        _ = machine.setRate(-1, reason: reason, at: .seconds(1))
        #expect(!machine.isPausedAtStart)
        _ = machine.setRate(0, at: .seconds(1))
        #expect(!machine.isPausedAtStart)
        _ = machine.setRate(0, reason: reason, at: .seconds(1))
        #expect(machine.isPausedAtStart)
        _ = machine.seekBegan(at: .seconds(2))
        #expect(!machine.isPausedAtStart)
        _ = machine.setRate(0, reason: reason, at: .seconds(3))
        _ = machine.setRate(1, at: .seconds(3))
        #expect(!machine.isPausedAtStart)
    }

    @Test func aFailureStopsTheRateWithItsOwnReason() {
        var machine = Self.ready(2)
        let actions = machine.fail(at: .seconds(1))
        let change = RateChange(rate: 0, previousRate: 2, reason: .ended, variant: nil)
        #expect(actions == [.setRate(0), .report(.rateChanged(change)), .report(.timeControlChanged(.paused))])
    }

    // MARK: Seeks

    @Test func aSeekBeforeTheItemIsReadyDoesNotMakeItReady() {
        var machine = PlaybackStateMachine(start: .zero)
        _ = machine.setRate(1, at: .zero)
        _ = machine.seekBegan(at: .seconds(1))
        let ended = machine.seekEnded(Self.enough, at: .seconds(2))
        #expect(ended.isEmpty && !machine.isReady && machine.rate == 0)
        _ = machine.becomeReady(at: .seconds(3))
        let again = machine.becomeReady(at: .seconds(3))
        #expect(machine.isReady && again.isEmpty)
    }

    @Test func theBufferIsUnknownUntilTheSeekEnds() {
        var machine = Self.ready()
        #expect(machine.bufferState == Self.enough)
        _ = machine.seekBegan(at: .seconds(1))
        #expect(machine.bufferState == BufferState() && machine.isReady)
        // Media at the former position does not show what is available at the new position.
        let actions = machine.bufferChanged(Self.enough, variant: nil, at: .seconds(1))
        #expect(actions.isEmpty && !machine.isLikelyToKeepUp)
        _ = machine.seekEnded(Self.buffer(3), at: .seconds(2))
        #expect(machine.bufferState == Self.buffer(3) && machine.rate == 0)
    }

    @Test func aStepOfASeekingPlayheadDoesNotEndTheSeek() {
        var machine = Self.ready()
        _ = machine.seekBegan(at: .seconds(1))
        machine.resumeFromEnd()
        _ = machine.bufferChanged(Self.enough, variant: nil, at: .seconds(1))
        #expect(machine.rate == 0)
    }

    // MARK: Buffer

    @Test func aPausedPlayerDoesNotStall() {
        var machine = Self.ready(0)
        #expect(machine.timeControl == .paused && machine.isLikelyToKeepUp)
        let emptied = machine.bufferChanged(Self.buffer(0), variant: nil, at: .seconds(1))
        #expect(emptied.isEmpty && !machine.isStalled && !machine.isLikelyToKeepUp)
        _ = machine.setRate(1, at: .seconds(2))
        #expect(machine.rate == 0 && machine.timeControl == .waiting(.toMinimizeStalls))
    }

    @Test func afterAStallAnImmediateStartWaitsForTheBuffer() {
        var machine = PlaybackStateMachine(start: .zero)
        _ = machine.setRate(1, immediately: true, at: .zero)
        _ = machine.becomeReady(at: .zero)
        _ = machine.bufferChanged(Self.buffer(0.5), variant: nil, at: .seconds(1))
        #expect(machine.rate == 1 && machine.isLikelyToKeepUp == false)
        _ = machine.bufferChanged(Self.buffer(0), variant: nil, at: .seconds(2))
        #expect(machine.isStalled)
        _ = machine.bufferChanged(Self.buffer(0.5), variant: nil, at: .seconds(3))
        #expect(machine.rate == 0 && machine.isStalled)
        _ = machine.setRate(1, immediately: true, at: .seconds(4))
        #expect(machine.rate == 1 && !machine.isStalled)
    }

    @Test func anotherRateThatIsNotImmediateWaits() {
        var machine = PlaybackStateMachine(start: .zero)
        _ = machine.setRate(1, immediately: true, at: .zero)
        _ = machine.setRate(1, at: .zero)
        _ = machine.becomeReady(at: .zero)
        _ = machine.bufferChanged(Self.buffer(0.5), variant: nil, at: .seconds(1))
        #expect(machine.rate == 0)
    }

    @Test func mediaUpToTheEndIsLikelyToKeepUpOnceTheItemIsReady() {
        var machine = PlaybackStateMachine(start: .zero)
        _ = machine.bufferChanged(Self.enough, variant: nil, at: .zero)
        #expect(!machine.isLikelyToKeepUp)
        _ = machine.bufferChanged(Self.buffer(1, reachesEnd: true), variant: nil, at: .zero)
        #expect(!machine.isLikelyToKeepUp)
        _ = machine.becomeReady(at: .zero)
        #expect(machine.isLikelyToKeepUp)
        var short = PlaybackStateMachine(start: .zero)
        _ = short.becomeReady(at: .zero)
        _ = short.bufferChanged(Self.buffer(1), variant: nil, at: .zero)
        #expect(!short.isLikelyToKeepUp)
    }

    @Test func reportsNameTheVariant() {
        let variant = VariantDescription(id: "v", address: "v", peakBitRate: BitRate(bitsPerSecond: 1))
        var machine = PlaybackStateMachine(start: .zero)
        _ = machine.setRate(1, at: .zero)
        _ = machine.becomeReady(at: .zero)
        let actions = machine.bufferChanged(Self.enough, variant: variant, at: .seconds(1))
        let named = actions.compactMap { action -> VariantDescription? in
            switch action {
            case .report(.rateChanged(let change)): change.variant
            case .report(.likelyToKeepUp(let report)): report.variant
            default: nil
            }
        }
        #expect(named == [variant, variant])
    }
}

/// Tests of the reports of media that could not be decoded.
@Suite struct UndecodableMediaEdgeTests {
    private static let range = MediaTimeRange(start: seconds("4"), end: seconds("5"))

    private func outcome(_ segment: SegmentIdentification?) -> (SkippedSegment, StreamingError)? {
        var media = UndecodableMedia()
        media.add(Self.range, of: .audio)
        let outcomes = media.takeOutcomes(
            appending: [],
            targetDuration: seconds("2"),
            skippedSegments: 4,
            segment: { type, range in type == .audio && range == Self.range ? segment : nil }
        )
        guard outcomes.count == 1, case .skip(let skipped, let error) = outcomes[0] else { return nil }
        return (skipped, error)
    }

    @Test(arguments: [(7, " in segment 7"), (nil, "")] as [(Int64?, String)])
    func theReportNamesTheSegment(sequence: Int64?, place: String) throws {
        let address = "https://example.com/a.ts"
        let (skipped, error) = try #require(outcome(SegmentIdentification(address: address, sequence: sequence)))
        #expect(error.message == "media of 4 to 5 s\(place) could not be decoded")
        #expect(error.code == .damaged && error.address?.text == address)
        let expected = SkippedSegment(
            address: address,
            mediaType: .audio,
            range: Self.range,
            reason: .notDecodable,
            sequence: sequence
        )
        #expect(skipped == expected)
    }

    @Test func mediaOfAnUnknownSegmentHasNoAddress() throws {
        let (skipped, error) = try #require(outcome(nil))
        #expect(error.message == "media of 4 to 5 s could not be decoded" && error.address == nil)
        #expect(skipped.address == "" && skipped.sequence == nil && skipped.reason == .notDecodable)
    }

    /// Four segments of 3 s may be skipped.
    @Test func theLimitFollowsFromTheSegmentsThatMayBeSkipped() {
        var media = UndecodableMedia()
        func fails(_ end: String) -> Bool {
            media.add(MediaTimeRange(start: .zero, end: seconds(end)), of: .video)
            let outcomes = media.takeOutcomes(appending: [], targetDuration: seconds("3"), skippedSegments: 4)
            return outcomes.contains { if case .fail = $0 { true } else { false } }
        }
        let (short, long) = (fails("12"), fails("12.001"))
        #expect(!short && long && media.isEmpty)
    }
}
