import HLSPlaylist
import MediaTiming
import PlaybackReporting
import ResourceAddressing
import Testing

@testable import MediaTransport
@testable import StreamingEngine

/// Tests of the changes to the pathway that content steering prefers.
@Suite struct FetchPlanPathwayFaultTests {
    private struct Stage {
        var plan = FetchPlan(policy: RecoveryPolicy(), chooser: VariantChooser(StreamingOptions()))
        var sink = EffectSink(now: .seconds(10))
        /// The sources of the first variant on both pathways.
        let sources: [StreamSource]

        /// Creates a state in which the main track and the audio are on the first pathway.
        init(isSteered: Bool = true) throws {
            let presentation = Presentation(
                try multivariant(EngineSession.steered(), at: "https://example.com/main.m3u8")
            )
            let variant = try #require(presentation.variants.first)
            var plan = FetchPlan(policy: RecoveryPolicy(), chooser: VariantChooser(StreamingOptions()))
            plan.catalog.open(presentation, MediaSelectionRules(), networkCost: nil, at: .zero)
            plan.catalog.selection[.audio] = presentation.group(.audio)?.options.first
            let found = plan.catalog.sources(of: variant)
            try #require(found.count == 2)
            sources = found
            plan.tracks.main.source = found[0]
            plan.tracks.audio.source = plan.catalog.renditionSource(
                plan.catalog.selection[.audio],
                with: found[0],
                at: .zero
            )
            if isSteered { plan.catalog.noteFailure(of: found[0], replacedBy: found[1], at: .seconds(10)) }
            self.plan = plan
        }

        /// Follows the preferred pathway; returns the playlists of the main track and of the audio.
        mutating func follow() -> String {
            _ = sink.takeChange()
            let moment = PlaybackMoment(
                now: .seconds(10),
                position: .zero,
                isPositioned: true,
                seek: nil,
                desiredRate: 1,
                isPausedAtStart: false,
                rate: 1,
                timebase: Timebase(),
                limits: PlaybackMoment.Limits(StreamingOptions())
            )
            plan.followPathway(moment, &sink)
            let isChanged = sink.takeChange()
            let names = [plan.tracks.main.source, plan.tracks.audio.source].map { source in
                source?.address.lastPathComponent ?? "none"
            }
            return names.joined(separator: " ") + (isChanged ? " changed" : "")
        }
    }

    @Test func theMainTrackAndTheAudioChangeThePathway() throws {
        var stage = try Stage()
        let first = stage.follow()
        let second = stage.follow()
        #expect(first == "low-two.m3u8 en-two.m3u8 changed" && second == "low-two.m3u8 en-two.m3u8")
    }

    @Test func withoutAPreferredPathwayTheSourcesRemain() throws {
        var stage = try Stage(isSteered: false)
        let outcome = stage.follow()
        #expect(outcome == "low-one.m3u8 en-one.m3u8")
    }

    @Test func aSourceThatFailedIsNotTriedAgain() throws {
        var stage = try Stage()
        stage.plan.tracks.main.failures.tried = [stage.sources[1]]
        let outcome = stage.follow()
        #expect(outcome == "low-one.m3u8 en-one.m3u8")
    }

    @Test func anExcludedSourceIsNotUsed() throws {
        var stage = try Stage()
        for source in stage.sources { stage.plan.catalog.exclusions.exclude(source, until: .seconds(11)) }
        let outcome = stage.follow()
        #expect(outcome == "low-one.m3u8 en-one.m3u8")
    }

    @Test func theAudioFollowsTheMainTrack() throws {
        var stage = try Stage()
        stage.plan.tracks.main.source = stage.sources[1]
        let followed = stage.follow()
        stage.plan.tracks.audio.source = nil
        let without = stage.follow()
        #expect(followed == "low-two.m3u8 en-two.m3u8 changed" && without == "low-two.m3u8 none")
    }
}
