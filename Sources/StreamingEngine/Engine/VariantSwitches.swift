import HLSPlaylist
import MediaTiming
import PlaybackReporting

/// The variant that is played, and the switch to the variant that is fetched.
struct VariantSwitches: Sendable {
    /// The variant at the playhead; `nil` before playback begins.
    private(set) var playedVariant: VariantDescription?
    /// The switch to the variant that is fetched, until that variant is played.
    private var pending: VariantSwitch?

    /// Begins a switch, and reports it.
    ///
    /// - Parameters:
    ///   - variant: The variant that is fetched from now on.
    ///   - cause: The cause, as reports name it.
    ///   - evidence: The figures on which the decision was based.
    ///   - loaded: The buffered ranges.
    ///   - renditions: The renditions that are played with the variant.
    ///   - sink: The collector of effects.
    mutating func begin(
        to variant: Presentation.Variant,
        cause: String,
        evidence: VariantSwitch.Evidence,
        loaded: [MediaTimeRange],
        renditions: [MediaType: RenditionDescription],
        _ sink: inout EffectSink
    ) {
        var change = VariantSwitch(
            from: pending?.to ?? playedVariant,
            to: VariantDescription(variant),
            cause: cause,
            evidence: evidence,
            loadedTimeRanges: loaded
        )
        change.renditions = renditions
        pending = change
        sink.report(.variantSwitchStarted(change))
    }

    /// Ends the switch to a source whose playlist could not be loaded, and reports its failure.
    mutating func fail(to source: StreamSource, _ sink: inout EffectSink) {
        guard pending?.to.id == source.variantID?.text else { return }
        fail(&sink)
    }

    /// Ends the switch that is in progress, if any, and reports its failure.
    mutating func fail(_ sink: inout EffectSink) {
        if let pending { sink.report(.variantSwitched(pending, succeeded: false)) }
        pending = nil
    }

    /// Sets the variant at the playhead, and reports the switch to it.
    ///
    /// - Parameters:
    ///   - variant: The variant.
    ///   - evidence: The figures of the present, for a variant to which no switch is in progress.
    ///   - loaded: The buffered ranges.
    ///   - renditions: The renditions that are played with the variant; `nil` if the presentation does not list it.
    ///   - sink: The collector of effects.
    mutating func play(
        _ variant: VariantDescription,
        evidence: VariantSwitch.Evidence,
        loaded: [MediaTimeRange],
        renditions: [MediaType: RenditionDescription]?,
        _ sink: inout EffectSink
    ) {
        let known = pending.flatMap { $0.to == variant ? $0 : nil }
        if known != nil { pending = nil }
        var change = VariantSwitch(
            from: playedVariant,
            to: variant,
            cause: known?.cause ?? (playedVariant == nil ? "start" : "played"),
            evidence: known?.evidence ?? evidence,
            loadedTimeRanges: loaded
        )
        if let renditions { change.renditions = renditions }
        playedVariant = variant
        sink.report(.variantSwitched(change, succeeded: true))
    }
}
