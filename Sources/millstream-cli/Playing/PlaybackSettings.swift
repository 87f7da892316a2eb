import AssetStorage
import MediaTiming
import Millstream
import PlaybackReporting

/// The settings of a playback from the command line.
struct PlaybackSettings: Sendable {
    /// The time at which playback starts; `nil` for the start that the stream recommends.
    var start: MediaTime?
    /// The time at which playback ends; `nil` for the end of the stream.
    var end: MediaTime?
    /// The latest time at which a frame is saved; `nil` if none is.
    var lastScreenshot: MediaTime?
    var rate = 1.0
    var isLoop = false
    /// A Boolean value that indicates whether playback can be resumed after the end, until the user quits.
    var staysOpen = false
    var isMuted = false
    /// The volume, from 0 for silence to 1 for the original level.
    var volume = 1.0
    var maximumBitRate: BitRate?
    /// The maximum height of variants in pixels; `nil` for no limit.
    var maximumHeight: Int?
    var selector = SelectorName.default
    /// The preferred languages of audio, the most preferred one first.
    var audioLanguages: [String] = []
    /// The media types for which one of the preferred languages is required.
    var requiredLanguages: [MediaType] = []
    /// The preferred languages of subtitles; `nil` if no subtitles were requested.
    var subtitleLanguages: [String]?
    /// The variants that the library has stored entirely, the best of which is played.
    var storedVariants: [StoredRendition] = []

    /// Creates the item of a source.
    func makeItem(_ asset: Asset) async -> PlayerItem {
        let item = PlayerItem(asset: asset)
        if let start {
            await item.seek(to: start)
        } else if rate < 0, let duration = try? await asset.load(.duration) {
            await item.seek(to: duration)
        }
        item.forwardPlaybackEndTime = end
        item.preferredPeakBitRate = maximumBitRate
        // Only the height is limited.
        item.preferredMaximumResolution = maximumHeight.map { Resolution(width: 1_000_000, height: $0) }
        item.variantSelection = VariantSelection(selector)
        if let variant = await storedVariant(of: asset) { item.pinVariant(variant.id) }
        var rules = item.mediaSelectionRules
        rules.audioLanguages = audioLanguages
        rules.subtitleLanguages = subtitleLanguages ?? []
        rules.isLanguageChoiceExplicit = true
        if subtitleLanguages != nil { rules.subtitleMode = .always }
        item.mediaSelectionRules = rules
        return item
    }

    /// Returns the stored variant that is played: the best one within the limits; `nil` to select among all variants.
    private func storedVariant(of asset: Asset) async -> AssetVariant? {
        guard !storedVariants.isEmpty, selector == .default, let variants = try? await asset.load(.variants) else {
            return nil
        }
        return variants.filter { variant in
            let isStored = storedVariants.contains {
                $0.bandwidth == variant.peakBitRate && $0.height == variant.resolution?.height
            }
            let isWithinRate = maximumBitRate.map { (variant.peakBitRate ?? $0) <= $0 } ?? true
            let isWithinHeight = maximumHeight.map { (variant.resolution?.height ?? 0) <= $0 } ?? true
            return isStored && isWithinRate && isWithinHeight
        }.max { ($0.peakBitRate?.bitsPerSecond ?? 0) < ($1.peakBitRate?.bitsPerSecond ?? 0) }
    }
}
