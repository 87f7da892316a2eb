import AssetStorage
import HLSPlaylist
import MediaTiming
import Millstream
import MillstreamDownloads
import ReportFormat

/// A limit of variants that the user requested, and the notice if no variant of the stream satisfies it.
///
/// The nearest variant is played or downloaded then.
enum VariantLimit: Sendable {
    case maximumHeight(Int)
    case maximumBitRate(BitRate)
    case minimumBitRate(BitRate)
    case minimumSize(Resolution)

    /// A variant as far as limits apply to it.
    struct Variant {
        let bitRate: BitRate?
        let resolution: Resolution?
    }

    /// Creates the limit of a selection; `nil` if the selection has none.
    init?(_ variants: DownloadSelection.Variants) {
        switch variants {
        case .maximumHeight(let height): self = .maximumHeight(height)
        case .minimumBandwidth(let rate): self = .minimumBitRate(rate)
        case .minimumSize(let size): self = .minimumSize(size)
        case .best, .lowest, .all, .none: return nil
        }
    }

    /// Returns the notice for the variants that are downloaded; `nil` if they satisfy the limit.
    func notice(for renditions: [StoredRendition]) -> TerminalText? {
        notice(
            for: renditions.filter { $0.role == .variant }.map { rendition in
                let size = rendition.width.flatMap { width in
                    rendition.height.map { Resolution(width: width, height: $0) }
                }
                return Variant(bitRate: rendition.bandwidth, resolution: size)
            },
            action: "downloading"
        )
    }

    /// Returns the notice for the variants from which the player selects; `nil` if one of them satisfies the limit.
    func notice(for variants: [AssetVariant]) -> TerminalText? {
        notice(
            for: variants.map { variant in
                Variant(bitRate: variant.peakBitRate, resolution: variant.resolution)
            },
            action: "playing"
        )
    }

    private func notice(for variants: [Variant], action: String) -> TerminalText? {
        switch self {
        case .maximumHeight(let limit):
            let heights = variants.compactMap(\.resolution?.height)
            // A variant of unknown height may satisfy the limit.
            guard heights.count == variants.count, let lowest = heights.min(), lowest > limit else { return nil }
            return "no variant has a height of at most \(limit) pixels: \(action) the lowest one, \(lowest) pixels"
        case .maximumBitRate(let limit):
            let rates = variants.compactMap(\.bitRate)
            guard rates.count == variants.count, let lowest = rates.min(), lowest > limit else { return nil }
            return "no variant has a bit rate of at most \(limit): \(action) the lowest one, \(lowest)"
        case .minimumBitRate(let limit):
            let rates = variants.compactMap(\.bitRate)
            guard rates.count == variants.count, let highest = rates.max(), highest < limit else { return nil }
            return "no variant has a bit rate of at least \(limit): \(action) the highest one, \(highest)"
        case .minimumSize(let limit):
            let sizes = variants.compactMap(\.resolution)
            guard sizes.count == variants.count, let largest = sizes.max(by: { $0.height < $1.height }),
                !sizes.contains(where: { $0.width >= limit.width && $0.height >= limit.height })
            else { return nil }
            return "no variant has a size of at least \(limit): \(action) \(largest)"
        }
    }
}
