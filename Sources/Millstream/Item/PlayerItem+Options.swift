public import Adaptation
public import HLSPlaylist
public import MediaTiming
public import StreamingEngine

extension PlayerItem {
    private var options: StreamingOptions { state.configuration.options }

    private func set(_ change: @escaping @Sendable (inout StreamingOptions) -> Void) {
        modify { $0.update(change) }
    }

    /// A Boolean value that indicates whether interstitials that the stream schedules are played
    /// (`automaticallyHandlesInterstitialEvents`); the default is `true`.
    ///
    /// Interstitials that the application schedules with ``InterstitialController/schedule(_:)`` are played in either
    /// case.
    public var automaticallyHandlesInterstitialEvents: Bool {
        get { state.configuration.automaticallyHandlesInterstitialEvents }
        set { modify { $0.state.configuration.automaticallyHandlesInterstitialEvents = newValue } }
    }

    /// The maximum bit rate of variants that are loaded; `nil`, the default, for no limit.
    public var preferredPeakBitRate: BitRate? {
        get { options.preferredPeakBitRate }
        set { set { $0.preferredPeakBitRate = newValue } }
    }

    /// The maximum resolution of variants that are loaded; `nil`, the default, for no limit.
    public var preferredMaximumResolution: Resolution? {
        get { options.preferredMaximumResolution }
        set { set { $0.preferredMaximumResolution = newValue } }
    }

    /// The maximum bit rate of variants that are loaded over an expensive network; `nil`, the default, for no
    /// additional limit.
    ///
    /// ``preferredPeakBitRate`` applies to expensive networks too. ``Player/Environment/network`` indicates whether the
    /// network is expensive.
    public var preferredPeakBitRateForExpensiveNetworks: BitRate? {
        get { options.preferredPeakBitRateForExpensiveNetworks }
        set { set { $0.preferredPeakBitRateForExpensiveNetworks = newValue } }
    }

    /// The maximum resolution of variants that are loaded over an expensive network; `nil`, the default, for no
    /// additional limit.
    public var preferredMaximumResolutionForExpensiveNetworks: Resolution? {
        get { options.preferredMaximumResolutionForExpensiveNetworks }
        set { set { $0.preferredMaximumResolutionForExpensiveNetworks = newValue } }
    }

    /// Preferences for the choice of variants; by default, variants with lossless audio are used only if there are no
    /// others.
    public var variantPreferences: VariantPreferences {
        get { options.variantPreferences }
        set { set { $0.variantPreferences = newValue } }
    }

    /// The adaptation algorithm that selects variants: a built-in selector by name, or one of the application; by
    /// default, `BalancedSelector`.
    ///
    /// A change takes effect with the next segment.
    public var variantSelection: VariantSelection {
        get { options.variantSelection }
        set { set { $0.variantSelection = newValue } }
    }

    /// The throughput that was measured in an earlier session; `nil`, the default, uses that of the
    /// ``ThroughputHistory`` of the environment.
    ///
    /// It affects the choice of the first variant. A change during playback has no effect on the current session.
    public var initialThroughput: BitRate? {
        get { options.initialThroughput }
        set { set { $0.initialThroughput = newValue } }
    }

    /// The volume of the audio over time; by default unchanged.
    public var audioMix: AudioMix {
        get { options.audioSettings.mix }
        set { set { $0.audioSettings.mix = newValue } }
    }

    /// The processing of the audio pitch at rates other than 1; by default, the pitch is preserved.
    public var audioTimePitchAlgorithm: AudioSettings.PitchAlgorithm {
        get { options.audioSettings.pitchAlgorithm }
        set { set { $0.audioSettings.pitchAlgorithm = newValue } }
    }

    /// The identifier of the variant that is played regardless of the throughput; `nil`, the default, adapts among all
    /// variants.
    public var pinnedVariant: String? { options.pinnedVariant }

    /// Plays one variant regardless of the throughput, or returns to adaptation among all variants.
    ///
    /// - Parameters:
    ///   - id: The `VariantDescription.id` of a variant, as in events and logs; `nil` to adapt again. The identifier of
    ///     a variant that the item does not have, or that cannot be loaded, has no effect.
    ///   - mode: The part of the buffer that is replaced.
    public func pinVariant(_ id: String?, switching mode: VariantSwitchMode = .nextSegment) {
        set {
            $0.pinning = mode
            $0.pinnedVariant = id
        }
    }

    /// A Boolean value that indicates whether playback starts with the first variant of the playlist instead of one
    /// chosen by the estimated throughput; the default is `false`.
    public var startsOnFirstEligibleVariant: Bool {
        get { options.startsOnFirstEligibleVariant }
        set { set { $0.startsOnFirstEligibleVariant = newValue } }
    }

    /// The duration of media to buffer ahead of the playhead; zero, the default, lets the engine choose by the stream.
    public var preferredForwardBufferDuration: Duration {
        get { options.preferredForwardBufferDuration }
        set { set { $0.preferredForwardBufferDuration = max(.zero, newValue) } }
    }

    /// A Boolean value that indicates whether a live stream continues to be loaded while it is paused; the default is
    /// `true`.
    public var canUseNetworkResourcesForLiveStreamingWhilePaused: Bool {
        get { options.usesNetworkWhilePaused }
        set { set { $0.usesNetworkWhilePaused = newValue } }
    }

    /// The time at which forward playback ends; `nil`, the default, for the end of the item.
    public var forwardPlaybackEndTime: MediaTime? {
        get { options.forwardPlaybackEndTime }
        set { set { $0.forwardPlaybackEndTime = newValue } }
    }

    /// The time at which reverse playback ends; `nil`, the default, for the start of the item.
    public var reversePlaybackEndTime: MediaTime? {
        get { options.reversePlaybackEndTime }
        set { set { $0.reversePlaybackEndTime = newValue } }
    }

    /// The distance of the playhead from the live edge; `nil`, the default, for the distance that the stream
    /// recommends.
    public var configuredTimeOffsetFromLive: MediaTime? {
        get { options.timeOffsetFromLive }
        set { set { $0.timeOffsetFromLive = newValue } }
    }

    /// A Boolean value that indicates whether the distance from the live edge is preserved by small changes of the
    /// rate; the default is `false`.
    public var automaticallyPreservesTimeOffsetFromLive: Bool {
        get { options.preservesTimeOffsetFromLive }
        set { set { $0.preservesTimeOffsetFromLive = newValue } }
    }

    /// The rules for the media selection of types that the viewer has not chosen; a change takes effect at once.
    public var mediaSelectionRules: MediaSelectionRules {
        get { options.selectionRules }
        set { modify { $0.setSelectionRules(newValue) } }
    }

    /// The size of the view in pixels, so that variants with a higher resolution are not loaded; `nil`, the default, if
    /// it is unknown.
    public var viewSize: Resolution? {
        get { options.viewSize }
        set { set { $0.viewSize = newValue } }
    }
}

extension PlayerItem {
    /// Returns the audible, legible or visual media selection group; `nil` if there is none, or if neither the item is
    /// ready nor the groups of its asset are loaded.
    public func mediaSelectionGroup(for characteristic: MediaCharacteristic) -> MediaSelectionGroup? {
        state.playback.presentation?.group(for: characteristic)
            ?? asset.mediaSelectionGroup(for: characteristic)
    }

    /// Selects an option: it is played at once if it is buffered, otherwise as soon as it is loaded.
    ///
    /// - Parameters:
    ///   - option: An option of the group; `nil` for none, which has no effect if the group does not allow an empty
    ///     selection.
    ///   - group: A media selection group of this item or of its asset.
    public func select(_ option: MediaSelectionOption?, in group: MediaSelectionGroup) {
        if let option {
            guard group.option(option.id) != nil else { return }
            modify { $0.choose(.option(option), in: group) }
        } else if group.allowsEmptySelection {
            modify { $0.choose(ItemConfiguration.Choice.none, in: group) }
        }
    }

    /// Returns the selection of a group to ``mediaSelectionRules``.
    public func selectMediaOptionAutomatically(in group: MediaSelectionGroup) {
        modify { $0.choose(nil, in: group) }
    }

    /// Enables or disables a track while the others continue to be played.
    ///
    /// - Parameters:
    ///   - isEnabled: A Boolean value that indicates whether the track is to be played.
    ///   - track: A track from ``State/tracks``.
    /// - Returns: A Boolean value that indicates whether the track can be enabled or disabled; see
    ///   ``PlayerItemTrack/canBeDisabled``.
    @discardableResult
    public func setEnabled(_ isEnabled: Bool, _ track: PlayerItemTrack) -> Bool {
        modify { $0.enable(isEnabled, trackID: track.id) }
    }
}
