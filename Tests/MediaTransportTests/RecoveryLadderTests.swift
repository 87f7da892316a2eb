import MediaTiming
import MediaTransport
import Testing

/// A transcript of the failures of a track and the actions that the policy decides.
struct RecoveryTranscript {
    private let policy: RecoveryPolicy
    private var history = RecoveryPolicy.History()
    private var exclusions = SourceExclusions<String>()
    private let circumstances: RecoveryPolicy.Circumstances
    /// The failures with the actions that followed.
    private(set) var lines: [String] = []

    /// Creates the transcript of a track whose circumstances are changed by a closure.
    init(
        _ track: TrackKind = .main,
        timeout: Duration = .seconds(60),
        policy: RecoveryPolicy = RecoveryPolicy(),
        _ change: (inout RecoveryPolicy.Circumstances) -> Void = { _ in }
    ) {
        var circumstances = RecoveryPolicy.Circumstances(track, timeout: timeout)
        change(&circumstances)
        self.circumstances = circumstances
        self.policy = policy
    }

    /// Records a failure, and adds the action and the excluded sources as a line.
    mutating func fail(
        _ now: Double,
        _ resource: RecoveryPolicy.Resource,
        _ category: FailureCategory,
        from source: String = "a",
        serverDelay: Duration = .zero,
        exceedsSizeLimit: Bool = false,
        _ change: (inout RecoveryPolicy.Circumstances) -> Void = { _ in }
    ) {
        var circumstances = circumstances
        change(&circumstances)
        let action = policy.action(
            after: RecoveryPolicy.Failure(
                category,
                serverDelay: serverDelay,
                exceedsSizeLimit: exceedsSizeLimit
            ),
            of: resource,
            from: source,
            circumstances,
            &history,
            &exclusions,
            at: .seconds(now)
        )
        let excluded = ["a", "b"].filter { exclusions.contains($0, at: .seconds(now)) }
        lines.append(
            "\(Self.text(now)) \(Self.text(resource)) \(category): \(Self.text(action))"
                + (excluded.isEmpty ? "" : ", excluded \(excluded.joined(separator: " "))")
        )
    }

    /// Records that a segment was loaded.
    mutating func succeed(from source: String = "a") {
        history = RecoveryPolicy.History()
        exclusions.succeeded(source)
        lines.append("success")
    }

    private static func text(_ seconds: Double) -> String {
        seconds == seconds.rounded() ? String(Int(seconds)) : String(seconds)
    }

    private static func text(_ resource: RecoveryPolicy.Resource) -> String {
        switch resource {
        case .segment(let position): "segment \(position)"
        case .playlist: "playlist"
        case .reload(let isOverdue): isOverdue ? "overdue reload" : "reload"
        }
    }

    private static func text(_ action: RecoveryPolicy.Action) -> String {
        switch action {
        case .retry(let delay): "retry after \(text(delay / .seconds(1)))"
        case .useOtherSource(let alternative): "other source or \(alternative)"
        default: "\(action)"
        }
    }
}

extension RecoveryPolicy.Resource {
    /// Returns the segment at a time in whole seconds.
    static func segment(_ seconds: Int64) -> Self { .segment(at: MediaTime(seconds: seconds)) }
}

/// Tests the ladder of actions after failures of segments and playlists as transcripts.
@Suite struct RecoveryLadderTests {
    // MARK: Segments

    @Test func anUnreachableServerIsTriedForTheTimeLimitWithABackoff() {
        var session = RecoveryTranscript { $0.hasMedia = true }
        for now in [5.0, 6, 8, 12, 20, 28] { session.fail(now, .segment(0), .unreachable) }
        session.fail(36, .segment(6), .unreachable)
        session.fail(64.9, .segment(6), .unreachable)
        session.fail(65, .segment(6), .unreachable)
        #expect(
            session.lines == [
                "5 segment 0 unreachable: retry after 1",
                "6 segment 0 unreachable: retry after 2",
                "8 segment 0 unreachable: retry after 4",
                "12 segment 0 unreachable: retry after 8",
                "20 segment 0 unreachable: retry after 8",
                "28 segment 0 unreachable: retry after 8",
                "36 segment 6 unreachable: retry after 1",
                "64.9 segment 6 unreachable: retry after 2",
                "65 segment 6 unreachable: endAfterBuffer",
            ]
        )
    }

    @Test(arguments: [FailureCategory.busy, .missing, .damaged])
    func anyResponseEndsAnUnreachablePeriod(category: FailureCategory) {
        var session = RecoveryTranscript()
        session.fail(0, .segment(0), .unreachable)
        session.fail(50, .segment(0), category)
        session.fail(70, .segment(6), .unreachable)
        session.fail(129.9, .segment(6), .unreachable)
        session.fail(130, .segment(6), .unreachable)
        #expect(
            session.lines.suffix(3) == [
                "70 segment 6 unreachable: retry after 1",
                "129.9 segment 6 unreachable: retry after 2",
                "130 segment 6 unreachable: fail",
            ]
        )
    }

    @Test func aSuccessResetsTheHistory() {
        var session = RecoveryTranscript()
        session.fail(0, .segment(0), .unreachable)
        session.succeed()
        session.fail(100, .segment(0), .unreachable)
        #expect(session.lines.last == "100 segment 0 unreachable: retry after 1")
    }

    @Test(arguments: [FailureCategory.unreachable, .busy])
    func explicitRetriesAreTheBoundOfAllAttempts(category: FailureCategory) {
        var session = RecoveryTranscript(policy: RecoveryPolicy(retries: 2))
        for number in 0..<5 { session.fail(Double(number), .segment(Int64(number)), category) }
        session.fail(5, .playlist, category)
        #expect(
            session.lines == (0..<4).map { "\($0) segment \($0) \(category): skip" } + [
                "4 segment 4 \(category): fail", "5 playlist \(category): fail, excluded a",
            ]
        )
    }

    @Test(arguments: [FailureCategory.unreachable, .busy])
    func anotherSourceIsTriedFirstAndOnlyOnce(category: FailureCategory) {
        var session = RecoveryTranscript { $0.hasOtherSource = true }
        session.fail(0, .segment(0), category)
        session.fail(1, .segment(0), category)
        session.fail(3, .segment(6), category)
        #expect(
            session.lines == [
                "0 segment 0 \(category): other source or skip",
                "1 segment 0 \(category): retry after 2",
                "3 segment 6 \(category): other source or skip",
            ]
        )
    }

    @Test func anUrgentSegmentOfABusyServerIsSkippedAfterTwentySeconds() {
        var session = RecoveryTranscript()
        session.fail(0, .segment(0), .busy)
        session.fail(19.9, .segment(0), .busy)
        session.fail(20, .segment(0), .busy) { $0.isUrgent = false }
        session.fail(20, .segment(0), .busy)
        session.fail(40, .segment(6), .busy)
        session.fail(60, .segment(6), .busy)
        #expect(
            session.lines == [
                "0 segment 0 busy: retry after 1",
                "19.9 segment 0 busy: retry after 2",
                "20 segment 0 busy: retry after 4",
                "20 segment 0 busy: skip",
                "40 segment 6 busy: retry after 1",
                "60 segment 6 busy: fail",
            ]
        )
    }

    @Test func aSegmentIsSkippedAtHalfOfAShortTimeLimit() {
        var session = RecoveryTranscript(timeout: .seconds(20))
        for now in [0, 9.9, 10] { session.fail(now, .segment(0), .busy) }
        #expect(session.lines.suffix(2) == ["9.9 segment 0 busy: retry after 2", "10 segment 0 busy: skip"])
    }

    @Test func aSegmentThatIsNotUrgentIsSkippedAtTheTimeLimitAndTheNextAtHalfOfIt() {
        var session = RecoveryTranscript { $0.isUrgent = false }
        for now in [0, 59.9, 60] { session.fail(now, .segment(0), .busy) }
        for now in [89.9, 90] { session.fail(now, .segment(6), .busy) }
        #expect(
            session.lines == [
                "0 segment 0 busy: retry after 1",
                "59.9 segment 0 busy: retry after 2",
                "60 segment 0 busy: skip",
                "89.9 segment 6 busy: retry after 1",
                "90 segment 6 busy: fail",
            ]
        )
    }

    @Test(arguments: [FailureCategory.missing, .damaged, .inconsistent])
    func fourConsecutiveSegmentsMayBeSkipped(category: FailureCategory) {
        var session = RecoveryTranscript()
        for number in 0..<5 { session.fail(Double(number), .segment(Int64(number)), category) }
        session.succeed()
        session.fail(9, .segment(9), category)
        #expect(
            session.lines == [
                "0 segment 0 \(category): skip",
                "1 segment 1 \(category): skip",
                "2 segment 2 \(category): skip",
                "3 segment 3 \(category): skip",
                "4 segment 4 \(category): fail",
                "success",
                "9 segment 9 \(category): skip",
            ]
        )
    }

    @Test func aLiveSegmentThatIsListedTooEarlyIsRetriedTwice() {
        var session = RecoveryTranscript { $0.isLive = true }
        for now in 0..<3 { session.fail(Double(now), .segment(0), .missing) }
        session.fail(2, .segment(6), .damaged)
        #expect(
            session.lines == [
                "0 segment 0 missing: retry after 1",
                "1 segment 0 missing: retry after 1",
                "2 segment 0 missing: skip",
                "2 segment 6 damaged: skip",
            ]
        )
    }

    @Test func aServerDelayIsObservedForThirtySeconds() {
        var session = RecoveryTranscript(timeout: .seconds(600))
        session.fail(0, .segment(0), .busy, serverDelay: .seconds(12))
        session.fail(1, .segment(0), .busy, serverDelay: .seconds(31)) { $0.isUrgent = false }
        #expect(session.lines == ["0 segment 0 busy: retry after 12", "1 segment 0 busy: retry after 30"])
    }

    @Test func aVariantThatLacksTwoConsecutiveSegmentsIsExcludedForAMinute() {
        var session = RecoveryTranscript { $0.hasOtherSource = true }
        session.fail(0, .segment(0), .missing)
        session.succeed()
        session.fail(1, .segment(6), .missing)
        session.fail(2, .segment(12), .damaged)
        session.fail(61.9, .segment(18), .missing, from: "b")
        session.fail(62, .segment(24), .missing, from: "b") { $0.hasOtherSource = false }
        #expect(
            session.lines == [
                "0 segment 0 missing: other source or skip",
                "success",
                "1 segment 6 missing: other source or skip",
                "2 segment 12 damaged: other source or skip, excluded a",
                "61.9 segment 18 missing: other source or skip, excluded a",
                "62 segment 24 missing: skip",
            ]
        )
    }

    @Test(arguments: [
        (TrackKind.main, true, "endAfterBuffer"), (.main, false, "fail"), (.audio, true, "endAfterBuffer"),
        (.audio, false, "fail"), (.subtitles, true, "dropTrack"),
    ])
    func deniedMediaEndsPlaybackWithoutAnotherAttempt(track: TrackKind, hasMedia: Bool, action: String) {
        var session = RecoveryTranscript(track) {
            $0.hasOtherSource = true
            $0.hasMedia = hasMedia
        }
        session.fail(0, .segment(0), .denied)
        #expect(session.lines == ["0 segment 0 denied: \(action)"])
    }

    @Test func aLostDeviceEndsPlaybackBeforeTheEndOfTheBuffer() {
        var session = RecoveryTranscript {
            $0.hasOtherSource = true
            $0.hasMedia = true
        }
        session.fail(0, .segment(0), .deviceLost)
        #expect(session.lines == ["0 segment 0 deviceLost: fail"])
    }

    @Test func audioIsTakenFromAnotherSourceOrDropped() {
        var session = RecoveryTranscript(.audio, timeout: .seconds(10)) { $0.hasOtherSource = true }
        session.fail(0, .segment(0), .missing)
        session.fail(0, .segment(0), .unreachable)
        session.fail(10, .segment(0), .unreachable)
        session.fail(11, .segment(0), .unreachable, from: "b") { $0.hasOtherSource = false }
        session.fail(21, .segment(0), .unreachable, from: "b") { $0.hasOtherSource = false }
        #expect(
            session.lines == [
                "0 segment 0 missing: other source or skip, excluded a",
                "0 segment 0 unreachable: retry after 1, excluded a",
                "10 segment 0 unreachable: other source or dropTrack, excluded a",
                "11 segment 0 unreachable: retry after 1, excluded a",
                "21 segment 0 unreachable: dropTrack, excluded a b",
            ]
        )
    }

    @Test func playbackDoesNotWaitForSubtitlesOfABusyServer() {
        var session = RecoveryTranscript(.subtitles)
        for number in 0..<5 { session.fail(Double(number), .segment(Int64(number)), .busy) }
        #expect(session.lines[0] == "0 segment 0 busy: skip")
        #expect(session.lines[4] == "4 segment 4 busy: dropTrack, excluded a")
    }

    @Test(arguments: [FailureCategory.missing, .damaged, .denied])
    func trickPlayContinuesWithTheVariantOfNormalPlayback(category: FailureCategory) {
        var session = RecoveryTranscript { $0.isTrickPlay = true }
        session.fail(0, .segment(0), category)
        #expect(session.lines == ["0 segment 0 \(category): useNormalPlayback, excluded a"])
    }

    // MARK: Playlists

    @Test(arguments: FailureCategory.allCases)
    func aPlaylistIsReplacedByAnotherSource(category: FailureCategory) {
        var session = RecoveryTranscript {
            $0.hasOtherSource = true
            $0.hasFormerSource = true
        }
        session.fail(0, .playlist, category)
        session.fail(0, .playlist, category, from: "b") { $0.hasOtherSource = false }
        #expect(
            session.lines == [
                "0 playlist \(category): other source or fail, excluded a",
                "0 playlist \(category): useFormerSource, excluded a b",
            ]
        )
    }

    @Test func aPlaylistWithoutReplacementIsRetriedOnlyIfTheServerIsUnreachable() {
        var session = RecoveryTranscript(timeout: .seconds(10))
        for now in [0, 1, 9.9, 10] { session.fail(now, .playlist, .unreachable) }
        session.fail(20, .playlist, .busy)
        #expect(
            session.lines == [
                "0 playlist unreachable: retry after 1, excluded a",
                "1 playlist unreachable: retry after 2, excluded a",
                "9.9 playlist unreachable: retry after 4, excluded a",
                "10 playlist unreachable: fail, excluded a",
                "20 playlist busy: fail, excluded a",
            ]
        )
    }

    @Test(arguments: [TrackKind.audio, .subtitles])
    func aTrackWithoutPlaylistIsDropped(track: TrackKind) {
        var session = RecoveryTranscript(track)
        session.fail(0, .playlist, .unreachable) { $0.hasOtherSource = true }
        session.fail(1, .playlist, .unreachable, from: "b")
        #expect(
            session.lines == [
                "0 playlist unreachable: other source or dropTrack, excluded a",
                "1 playlist unreachable: dropTrack, excluded a b",
            ]
        )
    }

    // MARK: Reloads

    @Test func aVariantThatIsNotUpdatedIsReloadedUntilItIsOverdue() {
        var session = RecoveryTranscript()
        session.fail(9, .reload(isOverdue: false), .stale)
        session.fail(9, .reload(isOverdue: false), .stale) { $0.hasOtherSource = true }
        session.fail(80, .reload(isOverdue: true), .stale)
        session.fail(80, .reload(isOverdue: true), .stale) { $0.hasOtherSource = true }
        #expect(
            session.lines == [
                "9 reload stale: reload",
                "9 reload stale: other source or reload, excluded a",
                "80 overdue reload stale: fail, excluded a",
                "80 overdue reload stale: other source or fail, excluded a",
            ]
        )
    }

    @Test func audioThatIsNotUpdatedIsDroppedBeforeVideoStalls() {
        var session = RecoveryTranscript(.audio)
        session.fail(9, .reload(isOverdue: false), .stale)
        session.fail(9, .reload(isOverdue: false), .stale) { $0.isDelayingOtherTracks = true }
        session.fail(9, .reload(isOverdue: false), .stale) {
            $0.isDelayingOtherTracks = true
            $0.isUrgent = false
        }
        session.fail(80, .reload(isOverdue: true), .stale)
        #expect(
            session.lines == [
                "9 reload stale: reload, excluded a",
                "9 reload stale: dropTrack, excluded a",
                "9 reload stale: reload, excluded a",
                "80 overdue reload stale: dropTrack, excluded a",
            ]
        )
    }

    @Test func playlistsOfTrickPlayAreLeftForNormalPlayback() {
        var session = RecoveryTranscript { $0.isTrickPlay = true }
        session.fail(0, .playlist, .unreachable)
        session.fail(0, .reload(isOverdue: false), .stale)
        session.fail(0, .reload(isOverdue: true), .stale)
        #expect(session.lines.allSatisfy { $0.hasSuffix("useNormalPlayback, excluded a") })
    }

    // MARK: Limits

    @Test func aLiveSegmentThatIsTooLargeIsNotRequestedAgain() {
        var session = RecoveryTranscript { $0.isLive = true }
        session.fail(0, .segment(0), .missing, exceedsSizeLimit: true)
        session.fail(6, .segment(6), .missing)
        #expect(session.lines == ["0 segment 0 missing: skip", "6 segment 6 missing: retry after 1"])
    }

    @Test(arguments: [TrackKind.main, .audio])
    func aLivePlaylistThatIsTooLargeIsNotReloaded(track: TrackKind) {
        var session = RecoveryTranscript(track)
        session.fail(0, .reload(isOverdue: false), .missing, exceedsSizeLimit: true)
        session.fail(0, .reload(isOverdue: false), .missing, exceedsSizeLimit: true) { $0.hasOtherSource = true }
        let end = track == .main ? "fail" : "dropTrack"
        #expect(
            session.lines == [
                "0 reload missing: \(end), excluded a", "0 reload missing: other source or \(end), excluded a",
            ]
        )
    }
}
