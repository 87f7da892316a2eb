import MediaTiming
import StreamingEngine

extension PlayerItem {
    /// Creates an item for an interstitial, which takes its limits, languages and network settings from the primary
    /// item.
    ///
    /// - Parameters:
    ///   - asset: The media of an interstitial.
    ///   - forbidsAdvancing: Whether a viewer cannot seek forward.
    ///   - primary: The item that the interstitial interrupts.
    convenience init(_ asset: Asset, forbidsAdvancing: Bool, as primary: PlayerItem) {
        let state = primary.state
        var options = state.configuration.options
        (options.startTime, options.startDate) = (nil, nil)
        (options.forwardPlaybackEndTime, options.reversePlaybackEndTime) = (nil, nil)
        (options.pinnedVariant, options.timeOffsetFromLive) = (nil, nil)
        options.audioSettings.mix = AudioMix()
        options.initialThroughput = state.playback.throughput ?? options.initialThroughput
        if let language = state.currentMediaSelection[.audio]?.language {
            options.selectionRules.audioLanguages.insert(language, at: 0)
        }
        if let language = state.currentMediaSelection[.subtitles]?.language {
            options.selectionRules.subtitleLanguages.insert(language, at: 0)
        }
        self.init(asset: asset)
        modify { [options] core in
            core.state.configuration.options = options
            core.state.configuration.requiresLinearPlayback = forbidsAdvancing
        }
    }
}
