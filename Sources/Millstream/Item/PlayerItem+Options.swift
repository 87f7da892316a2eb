public import HLSPlaylist
public import MediaTiming
public import StreamingEngine

extension PlayerItem {
    private var options: StreamingOptions { state.configuration.options }

    private func set(_ change: @escaping @Sendable (inout StreamingOptions) -> Void) {
        ask { $0.update(change) }
    }

    /// Whether what its stream schedules in between is played (`automaticallyHandlesInterstitialEvents`); it is by default.
    ///
    /// What an application schedules, with ``InterstitialController/schedule(_:)``, is played in any case.
    public var automaticallyHandlesInterstitialEvents: Bool {
        get { state.configuration.handlesInterstitials }
        set { ask { $0.state.configuration.handlesInterstitials = newValue } }
    }

    /// The highest bit rate that is fetched; `nil`, the default, for any.
    public var preferredPeakBitRate: BitRate? {
        get { options.preferredPeakBitRate }
        set { set { $0.preferredPeakBitRate = newValue } }
    }

    /// The largest picture that is of use; `nil`, the default, for any.
    public var preferredMaximumResolution: Resolution? {
        get { options.preferredMaximumResolution }
        set { set { $0.preferredMaximumResolution = newValue } }
    }

    /// The highest bit rate that is fetched over a network that is paid for; `nil`, the default, for no limit of its own.
    ///
    /// ``preferredPeakBitRate`` holds there, too. ``Player/Environment/network`` says which network that is.
    public var preferredPeakBitRateForExpensiveNetworks: BitRate? {
        get { options.preferredPeakBitRateForExpensiveNetworks }
        set { set { $0.preferredPeakBitRateForExpensiveNetworks = newValue } }
    }

    /// The largest picture that is of use over a network that is paid for; `nil`, the default, for no limit of its own.
    public var preferredMaximumResolutionForExpensiveNetworks: Resolution? {
        get { options.preferredMaximumResolutionForExpensiveNetworks }
        set { set { $0.preferredMaximumResolutionForExpensiveNetworks = newValue } }
    }

    /// What is wanted of variants besides; by default none with lossless sound, where there are others.
    public var variantPreferences: VariantPreferences {
        get { options.variantPreferences }
        set { set { $0.variantPreferences = newValue } }
    }

    /// How loud which moment is; by default all as it comes.
    public var audioMix: AudioMix {
        get { options.sound.mix }
        set { set { $0.sound.mix = newValue } }
    }

    /// What becomes of the pitch at other rates than 1; it is kept by default.
    public var audioTimePitchAlgorithm: SoundSettings.PitchAlgorithm {
        get { options.sound.pitch }
        set { set { $0.sound.pitch = newValue } }
    }

    /// The variant that is played whatever the network carries; `nil`, the default, to choose among all.
    public var pinnedVariant: String? { options.pinnedVariant }

    /// Plays one variant whatever the network carries, or chooses among all again.
    ///
    /// - Parameters:
    ///   - id: The `VariantDescription.id` of a variant, as events and logs name it; `nil` for none. One that the item
    ///     does not have, or that cannot be had, changes nothing.
    ///   - mode: What becomes of what is buffered.
    public func pinVariant(_ id: String?, switching mode: VariantSwitchMode = .nextSegment) {
        set {
            $0.pinning = mode
            $0.pinnedVariant = id
        }
    }

    /// Whether to begin with the first variant of the playlist, instead of one that the network is thought to carry.
    public var startsOnFirstEligibleVariant: Bool {
        get { options.startsOnFirstEligibleVariant }
        set { set { $0.startsOnFirstEligibleVariant = newValue } }
    }

    /// How much is buffered ahead of the play head; zero, the default, for what suits the stream.
    public var preferredForwardBufferDuration: Duration {
        get { options.preferredForwardBufferDuration }
        set { set { $0.preferredForwardBufferDuration = max(.zero, newValue) } }
    }

    /// Whether a live stream is loaded while it is paused; it is by default.
    public var canUseNetworkResourcesForLiveStreamingWhilePaused: Bool {
        get { options.usesNetworkWhilePaused }
        set { set { $0.usesNetworkWhilePaused = newValue } }
    }

    /// Where to stop when playing forwards; `nil`, the default, for the end.
    public var forwardPlaybackEndTime: MediaTime? {
        get { options.forwardPlaybackEndTime }
        set { set { $0.forwardPlaybackEndTime = newValue } }
    }

    /// Where to stop when playing backwards; `nil`, the default, for the start.
    public var reversePlaybackEndTime: MediaTime? {
        get { options.reversePlaybackEndTime }
        set { set { $0.reversePlaybackEndTime = newValue } }
    }

    /// How far from the live edge to play; `nil`, the default, for what the stream wants.
    public var configuredTimeOffsetFromLive: MediaTime? {
        get { options.timeOffsetFromLive }
        set { set { $0.timeOffsetFromLive = newValue } }
    }

    /// Whether that distance is kept by playing a little faster or slower; it is not by default.
    public var automaticallyPreservesTimeOffsetFromLive: Bool {
        get { options.preservesTimeOffsetFromLive }
        set { set { $0.preservesTimeOffsetFromLive = newValue } }
    }

    /// Which options are played when nobody has chosen; others take effect at once.
    public var mediaSelectionRules: MediaSelectionRules {
        get { options.selectionRules }
        set { ask { $0.setSelectionRules(newValue) } }
    }

    /// The size of the view in pixels, so that nothing larger is fetched; `nil`, the default, where it is not known.
    public var viewSize: Resolution? {
        get { options.viewSize }
        set { set { $0.viewSize = newValue } }
    }
}

extension PlayerItem {
    /// The choices that are audible, legible or visual; `nil` where there are none, or the item is not ready.
    public func mediaSelectionGroup(for characteristic: MediaCharacteristic) -> MediaSelectionGroup? {
        state.playback.presentation?.group(for: characteristic)
            ?? asset.mediaSelectionGroup(for: characteristic)
    }

    /// Plays an option: at once where it is buffered, else as soon as it can be.
    ///
    /// - Parameters:
    ///   - option: One of the group; `nil` for none, where the group allows that, else it counts for nothing.
    ///   - group: A group of this item or its asset.
    public func select(_ option: MediaSelectionOption?, in group: MediaSelectionGroup) {
        if let option {
            guard group.option(option.id) != nil else { return }
            ask { $0.choose(.option(option), in: group) }
        } else if group.allowsEmptySelection {
            ask { $0.choose(ItemConfiguration.Choice.none, in: group) }
        }
    }

    /// Leaves the choice to ``mediaSelectionRules`` again.
    public func selectMediaOptionAutomatically(in group: MediaSelectionGroup) {
        ask { $0.choose(nil, in: group) }
    }

    /// Turns a track on or off without stopping the rest.
    ///
    /// - Parameters:
    ///   - isEnabled: Whether it is to be played.
    ///   - track: One of ``State/tracks``.
    /// - Returns: Whether that can be done; see ``PlayerItemTrack/canBeDisabled``.
    @discardableResult
    public func setEnabled(_ isEnabled: Bool, _ track: PlayerItemTrack) -> Bool {
        ask { $0.enable(isEnabled, trackID: track.id) }
    }
}
