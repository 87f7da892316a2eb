import HLSPlaylist
import MediaTiming
import MediaTransport
import PlaybackReporting
import Testing

@testable import StreamingEngine

/// Tests of the steps over ranges for which the playlist lists no segments.
///
/// The time is 10 s. The playlist has six segments of 4 s, of which the first begins at 20 s unless stated otherwise.
@Suite struct SegmentFetcherSurvivorTests {
    private struct Stage {
        var plan = FetchPlan(policy: RecoveryPolicy(), chooser: VariantChooser(StreamingOptions()))
        var sink = EffectSink(now: .seconds(10))
        var fetcher = SegmentFetcher()
        let source: StreamSource

        /// Creates a state in which media up to the given end is in the buffer.
        init(start: String = "20", loaded: String = "4", isLive: Bool = false) throws {
            let presentation = Presentation(try multivariant("#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nv.m3u8\n"))
            let variant = try #require(presentation.variants.first)
            source = StreamSource(variant, location: 0, address: variant.address)
            plan.catalog.open(presentation, MediaSelectionRules(), networkCost: nil, at: .zero)
            let playlist = try LiveWindowText(tail: isLive ? [] : ["#EXT-X-ENDLIST"]).playlist
            plan.tracks.main.source = source
            plan.tracks.main.playlist = LoadedPlaylist(
                source: source,
                timeline: PresentationTimeline(playlist, start: seconds(start)),
                requestStart: .zero,
                lastUpdate: .zero
            )
            plan.tracks.main.buffer.insert(Self.entry(loaded, .video))
        }

        static func entry(_ end: String, _ type: MediaType) -> StreamBuffer.Entry {
            StreamBuffer.Entry(
                range: MediaTimeRange(start: .zero, end: seconds(end)),
                type: type,
                byteCount: 1,
                variant: nil
            )
        }

        /// Performs the next steps of the main track.
        ///
        /// - Returns: The result, as text.
        mutating func advance(_ position: String, rate: Double = 1, seek: PlaybackMoment.Seek? = nil) -> String {
            let moment = PlaybackMoment(
                now: .seconds(10),
                position: seconds(position),
                isPositioned: true,
                seek: seek,
                desiredRate: rate,
                isPausedAtStart: false,
                rate: rate,
                timebase: Timebase(mediaTime: seconds(position), time: .seconds(10), rate: rate),
                limits: PlaybackMoment.Limits(StreamingOptions())
            )
            switch fetcher.advance(.main, &plan, PlaylistFollower(), moment, startOfPlayback: .zero, &sink) {
            case .consequence(.jump(let target)): return "jump \(target.seconds)"
            case .consequence(.fail), .consequence(.mainPlaylistLoaded), .loadPlaylist: return "other"
            case .settled: break
            }
            if case .appendingGap(let gap) = plan.tracks.main.fetch {
                return "gap \(gap.range.start.seconds) \(gap.range.end.seconds)"
            }
            if let job = plan.tracks.main.job { return "fetch \(job.segment.sequence)" }
            guard let time = plan.tracks.main.nextStepTime else { return "settled" }
            return "wait \(Int((time / .milliseconds(1)).rounded()))"
        }
    }

    @Test func theBufferIsPlayedBeforeARangeWithoutSegments() throws {
        var stage = try Stage()
        #expect(stage.advance("0") == "wait 14000")
        #expect(stage.advance("2") == "wait 12000")
        // Audio ends earlier, and is fetched until then.
        stage.plan.tracks.audio.source = stage.source
        stage.plan.tracks.audio.buffer.insert(Stage.entry("2", .audio))
        #expect(stage.advance("0") == "wait 14000")
        // Media of a former selection is played too.
        var outdated = try Stage(loaded: "8")
        outdated.plan.tracks.main.buffer.markOutdated(from: seconds("4"))
        #expect(outdated.advance("0") == "wait 18000")
    }

    @Test func theRangeIsSkippedOnceTheBufferHasBeenPlayed() throws {
        var stage = try Stage()
        #expect(stage.advance("4") == "jump 20.0")
        // A paused player has no buffer to play.
        #expect(stage.advance("2", rate: 0) == "jump 20.0")
        // Live playback continues at the distance of three target durations from the live edge.
        var live = try Stage(isLive: true)
        #expect(live.advance("4") == "jump 32.0")
    }

    @Test(arguments: [("6", "gap 4.0 6.0"), ("6.001", "wait 14000"), ("4.25", "fetch 0")])
    func aShortRangeIsAGap(start: String, expected: String) throws {
        var stage = try Stage(start: start)
        #expect(stage.advance("0") == expected)
    }

    @Test func onlyTheSeekToTheStartPositionSkipsTheRange() throws {
        var stage = try Stage()
        #expect(stage.advance("0", seek: PlaybackMoment.Seek(target: seconds("4"), isStart: true)) == "jump 20.0")
        #expect(stage.advance("0", seek: PlaybackMoment.Seek(target: seconds("4"), isStart: false)) == "gap 4.0 20.0")
    }
}
