import HLSPlaylist
import MediaTiming
import PlaybackReporting
import ResourceAddressing
import Testing

@testable import MediaTransport
@testable import StreamingEngine

/// Tests of the decision which segments of a lower variant are fetched while the playlist of a higher one is loaded.
///
/// The time is 10 s. The loaded playlist has six segments of 4 s, of which two are in the buffer by default.
@Suite struct SubstitutePlannerTests {
    /// The state in which the playlist of one of two variants is loaded, and that of the other is requested.
    private struct Stage {
        var plan: FetchPlan
        let low: StreamSource
        let high: StreamSource

        init(
            low: String = "BANDWIDTH=1000000",
            high: String = "BANDWIDTH=3000000",
            isHighLoaded: Bool = false,
            loaded: (start: String, end: String)? = ("0", "8"),
            throughput: Int64? = nil,
            head: [String] = []
        ) throws {
            let presentation = Presentation(
                try multivariant(
                    """
                    #EXTM3U
                    #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="A",DEFAULT=YES,AUTOSELECT=YES,URI="a.m3u8"
                    #EXT-X-STREAM-INF:\(low)
                    low.m3u8
                    #EXT-X-STREAM-INF:\(high)
                    high.m3u8
                    """
                )
            )
            let sources = presentation.variants.map { StreamSource($0, location: 0, address: $0.address) }
            self.low = try #require(sources.first)
            self.high = try #require(sources.last)
            var options = StreamingOptions()
            options.initialThroughput = throughput.map { BitRate(bitsPerSecond: $0) }
            plan = FetchPlan(policy: RecoveryPolicy(), chooser: VariantChooser(options))
            plan.catalog.open(presentation, MediaSelectionRules(), networkCost: nil, at: .zero)
            plan.tracks.main.source = isHighLoaded ? self.low : self.high
            plan.tracks.main.playlist = LoadedPlaylist(
                source: isHighLoaded ? self.high : self.low,
                timeline: PresentationTimeline(
                    try LiveWindowText(head: head, tail: ["#EXT-X-ENDLIST"]).playlist
                ),
                requestStart: .zero,
                lastUpdate: .zero
            )
            guard let loaded else { return }
            plan.tracks.main.buffer.insert(
                StreamBuffer.Entry(
                    range: MediaTimeRange(start: seconds(loaded.start), end: seconds(loaded.end)),
                    type: .muxed,
                    byteCount: 1,
                    variant: nil
                )
            )
        }

        /// Removes the variants, so that nothing is known about them.
        mutating func forgetVariants() { plan.catalog = SourceCatalog(chooser: plan.catalog.chooser) }

        /// Returns the state of playback at 10 s.
        func moment(
            _ position: String,
            rate: Double = 1,
            isPositioned: Bool = true,
            seek: PlaybackMoment.Seek? = nil,
            _ change: (inout StreamingOptions) -> Void = { _ in }
        ) -> PlaybackMoment {
            var options = StreamingOptions()
            change(&options)
            return PlaybackMoment(
                now: .seconds(10),
                position: seconds(position),
                isPositioned: isPositioned,
                seek: seek,
                desiredRate: rate,
                isPausedAtStart: false,
                rate: rate,
                timebase: Timebase(),
                limits: PlaybackMoment.Limits(options)
            )
        }

        /// Returns the substitute for a source and its earliest time in milliseconds, as text.
        func substitute(for source: StreamSource? = nil, at position: String = "0") -> String {
            let found = SubstitutePlanner.substitute(for: source ?? high, plan, moment(position))
            return found.map { "\(name($0.source)) \(milliseconds($0.earliest))" } ?? "none"
        }

        /// Returns the decision, with its time in milliseconds, as text.
        ///
        /// The segments of the lower variant are fetched from the earliest time on; from no time on if it is `nil`.
        func decision(at moment: PlaybackMoment, earliest: Double? = 10) -> String {
            let request = PlaylistRequest(
                number: 1,
                source: high,
                request: TransportRequest(high.address, kind: .playlist),
                began: .seconds(9),
                substitute: earliest.map { PlaylistRequest.Substitute(source: low, earliest: .seconds($0)) }
            )
            switch SubstitutePlanner.decide(request, plan, moment) {
            case .wait(let time): return time.map { "wait \(milliseconds($0))" } ?? "wait"
            case .fetch(let segment, let source): return "fetch \(segment.sequence) of \(name(source))"
            case .stop: return "stop"
            }
        }

        /// Returns the decision during forward playback at a position, as text.
        func decision(at position: String, rate: Double = 1, earliest: Double? = 10) -> String {
            decision(at: moment(position, rate: rate), earliest: earliest)
        }

        private func name(_ source: StreamSource) -> String {
            source == low ? "low" : source == high ? "high" : "other"
        }

        private func milliseconds(_ time: Duration) -> Int { Int((time / .milliseconds(1)).rounded()) }
    }

    // MARK: Substitutes

    /// The earliest time is after half of the buffer, and after a second at most.
    @Test(arguments: [("0", "low 11000"), ("6", "low 11000"), ("7", "low 10500"), ("8", "low 10000")])
    func theLowerVariantIsFetchedAfterAMargin(position: String, substitute: String) throws {
        #expect(try Stage().substitute(at: position) == substitute)
    }

    @Test func aLowerVariantHasNoSubstitute() throws {
        let stage = try Stage(isHighLoaded: true)
        #expect(stage.substitute(for: stage.low) == "none")
        #expect(stage.substitute(for: stage.high) == "none")
    }

    @Test func averageBitRatesAreCompared() throws {
        let equal = try Stage(high: "BANDWIDTH=2000000,AVERAGE-BANDWIDTH=1000000")
        #expect(equal.substitute() == "none")
        let higher = try Stage(
            low: "BANDWIDTH=5000000,AVERAGE-BANDWIDTH=1000000",
            high: "BANDWIDTH=3000000,AVERAGE-BANDWIDTH=1000001"
        )
        #expect(higher.substitute() == "low 11000")
        let lower = try Stage(
            low: "BANDWIDTH=3000000,AVERAGE-BANDWIDTH=1000001",
            high: "BANDWIDTH=5000000,AVERAGE-BANDWIDTH=1000000"
        )
        #expect(lower.substitute() == "none")
    }

    @Test func withoutALoadedPlaylistThereIsNoSubstitute() throws {
        var stage = try Stage()
        stage.plan.tracks.main.playlist = nil
        #expect(stage.substitute() == "none")
    }

    @Test func unknownVariantsHaveNoSubstitute() throws {
        var stage = try Stage()
        stage.forgetVariants()
        #expect(stage.substitute() == "none")
    }

    @Test func duringTrickPlayThereIsNoSubstitute() throws {
        var stage = try Stage()
        stage.plan.tracks.trickPlay = .on(TrickPlay.Return(source: stage.low, timeline: nil))
        #expect(stage.substitute() == "none")
    }

    @Test(arguments: [(9.0, "low 11000"), (10, "low 11000"), (10.001, "none")])
    func anExcludedVariantIsNoSubstitute(end: Double, substitute: String) throws {
        var stage = try Stage()
        stage.plan.catalog.exclusions.exclude(stage.low, until: .seconds(end))
        #expect(stage.substitute() == substitute)
        stage.plan.catalog.exclusions = SourceExclusions()
        stage.plan.catalog.exclusions.exclude(stage.high, until: .seconds(end))
        #expect(stage.substitute() == "low 11000")
    }

    /// Media with separate audio and media with muxed audio cannot alternate.
    @Test(arguments: [("", "", "low 11000"), (",", ",", "low 11000"), (",", "", "none"), ("", ",", "none")])
    func bothVariantsHaveSeparateAudioOrNone(low: String, high: String, substitute: String) throws {
        let group = #"AUDIO="a""#
        let stage = try Stage(
            low: "BANDWIDTH=1000000" + (low.isEmpty ? "" : low + group),
            high: "BANDWIDTH=3000000" + (high.isEmpty ? "" : high + group)
        )
        #expect(stage.substitute() == substitute)
    }

    // MARK: Times

    /// The next segment is fetched when a second of the buffer is left.
    @Test(
        arguments: [
            ("0", 1, "wait 17000"), ("0", 2, "wait 13500"), ("0", 0.001, "wait 710000"), ("0", 0, "wait"),
            ("6.999", 1, "wait 10001"), ("7", 1, "fetch 2 of low"), ("7", 0, "fetch 2 of low"),
            ("8", 1, "fetch 2 of low"),
        ] as [(String, Double, String)]
    )
    func theNextSegmentIsFetchedBeforeTheBufferIsEmpty(position: String, rate: Double, decision: String) throws {
        #expect(try Stage().decision(at: position, rate: rate) == decision)
    }

    @Test func theFirstSegmentIsFetchedIfTheBufferIsEmpty() throws {
        #expect(try Stage(loaded: nil).decision(at: "0") == "fetch 0 of low")
    }

    @Test(
        arguments: [
            ("7", 1, 9, "fetch 2 of low"), ("7", 1, 10, "fetch 2 of low"), ("7", 1, 10.001, "wait 10001"),
            ("7", 0, 11, "wait"), ("0", 1, 16.9, "wait 17000"), ("0", 1, 20, "wait 20000"),
            ("0", 2, 13.6, "wait 13600"),
        ] as [(String, Double, Double, String)]
    )
    func noSegmentIsFetchedBeforeTheEarliestTime(
        position: String,
        rate: Double,
        earliest: Double,
        decision: String
    ) throws {
        #expect(try Stage().decision(at: position, rate: rate, earliest: earliest) == decision)
    }

    /// A segment takes its duration, multiplied by its bit rate of 1 Mbit/s and divided by the throughput, but at most
    /// four times its duration.
    @Test(
        arguments: [
            (nil, "8", "wait 17000"), (10_000_000, "8", "wait 17000"), (4_000_000, "8", "wait 17000"),
            (2_000_000, "8", "wait 16000"), (1_000_000, "8", "wait 14000"), (500_000, "8", "fetch 2 of low"),
            (250_000, "20", "wait 14000"), (100_000, "20", "wait 14000"), (0, "8", "wait 17000"),
        ] as [(Int64?, String, String)]
    )
    func aSlowTransferBeginsEarlier(throughput: Int64?, end: String, decision: String) throws {
        #expect(try Stage(loaded: ("0", end), throughput: throughput).decision(at: "0") == decision)
    }

    @Test func theTransferOfAnUnknownVariantTakesNoTime() throws {
        var stage = try Stage(throughput: 500_000)
        stage.forgetVariants()
        #expect(stage.decision(at: "0") == "wait 17000")
    }

    @Test func nothingIsFetchedBeforeARetry() throws {
        var stage = try Stage()
        stage.plan.tracks.main.failures.retryTime = .seconds(10)
        #expect(stage.decision(at: "7") == "fetch 2 of low")
        stage.plan.tracks.main.failures.retryTime = .seconds(10.001)
        #expect(stage.decision(at: "7") == "wait 10001" && stage.decision(at: "0") == "wait 10001")
        #expect(stage.decision(at: "7", rate: 0) == "wait 10001")
    }

    // MARK: Segments

    @Test func nothingIsFetchedWithoutASubstitute() throws {
        let stage = try Stage()
        #expect(stage.decision(at: "7", earliest: nil) == "wait")
    }

    @Test func nothingIsFetchedWithoutAPosition() throws {
        var stage = try Stage()
        let seek = PlaybackMoment.Seek(target: seconds("7"), isStart: false)
        #expect(stage.decision(at: stage.moment("7", isPositioned: false)) == "wait")
        #expect(stage.decision(at: stage.moment("7", seek: seek)) == "wait")
        stage.plan.tracks.main.failures.retryTime = .seconds(12)
        #expect(stage.decision(at: stage.moment("7", seek: seek)) == "wait")
    }

    @Test func outdatedMediaIsReplaced() throws {
        var stage = try Stage()
        stage.plan.tracks.main.buffer.markOutdated(from: seconds("4"))
        // Outdated media can be played, so that there is time.
        #expect(stage.decision(at: "3") == "wait 14000" && stage.decision(at: "7") == "fetch 1 of low")
    }

    /// Media from 16 s to 20 s is loaded, and played backward.
    @Test(
        arguments: [
            ("20", -1, "wait 13000"), ("20", -2, "wait 11500"), ("17.5", -1, "wait 10500"),
            ("17", -1, "fetch 3 of low"),
        ] as [(String, Double, String)]
    )
    func thePreviousSegmentIsFetchedBackward(position: String, rate: Double, decision: String) throws {
        #expect(try Stage(loaded: ("16", "20")).decision(at: position, rate: rate) == decision)
    }

    // MARK: Ends

    @Test func fetchingStopsAtTheEnd() throws {
        #expect(try Stage(loaded: ("0", "24")).decision(at: "0") == "stop")
        let stage = try Stage()
        for (end, decision) in [("8", "stop"), ("8.5", "fetch 2 of low"), ("24", "fetch 2 of low")] {
            #expect(stage.decision(at: stage.moment("7") { $0.forwardPlaybackEndTime = seconds(end) }) == decision)
        }
    }

    @Test(arguments: [(11.0, "stop"), (11.999, "stop"), (12, "wait 17000")])
    func fetchingStopsOnceTheBufferIsFull(capacity: Double, decision: String) throws {
        let stage = try Stage()
        let moment = stage.moment("0") { $0.preferredForwardBufferDuration = .seconds(capacity) }
        #expect(stage.decision(at: moment) == decision)
    }

    @Test func fetchingStopsAtAGap() throws {
        #expect(try Stage(loaded: nil, head: ["#EXT-X-GAP"]).decision(at: "0") == "stop")
        #expect(try Stage(loaded: ("0", "4"), head: ["#EXT-X-GAP"]).decision(at: "3") == "fetch 1 of low")
    }

    @Test func fetchingStopsIfTheSourceChanges() throws {
        var stage = try Stage()
        stage.plan.tracks.main.source = stage.low
        #expect(stage.decision(at: "7") == "stop")
        stage.plan.tracks.main.source = nil
        #expect(stage.decision(at: "7") == "stop")
        stage.plan.tracks.main.source = stage.high
        #expect(stage.decision(at: "7") == "fetch 2 of low")
        stage.plan.tracks.main.playlist = nil
        #expect(stage.decision(at: "7") == "stop")
    }

    @Test func fetchingStopsIfThePlaylistIsNotThatOfTheSubstitute() throws {
        var stage = try Stage(isHighLoaded: true)
        stage.plan.tracks.main.source = stage.high
        #expect(stage.decision(at: "7") == "stop")
    }

    @Test func fetchingStopsAfterAnError() throws {
        var stage = try Stage()
        stage.plan.tracks.main.failures.terminalError = StreamingError(.damaged, "no")
        #expect(stage.decision(at: "7") == "stop")
    }

    @Test func fetchingStopsOnceTheSubstituteHasFailed() throws {
        var stage = try Stage()
        stage.plan.tracks.main.failures.tried = [stage.high]
        #expect(stage.decision(at: "7") == "fetch 2 of low")
        stage.plan.tracks.main.failures.tried = [stage.low]
        #expect(stage.decision(at: "7") == "stop")
        // The end does not depend on the position.
        #expect(stage.decision(at: stage.moment("7", isPositioned: false)) == "stop")
    }

    @Test(arguments: [(10.0, "fetch 2 of low"), (10.001, "stop")])
    func fetchingStopsOnceTheSubstituteIsExcluded(end: Double, decision: String) throws {
        var stage = try Stage()
        stage.plan.catalog.exclusions.exclude(stage.low, until: .seconds(end))
        #expect(stage.decision(at: "7") == decision)
        stage.plan.catalog.exclusions = SourceExclusions()
        stage.plan.catalog.exclusions.exclude(stage.high, until: .seconds(20))
        #expect(stage.decision(at: "7") == "fetch 2 of low")
    }
}
