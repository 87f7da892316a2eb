import MediaTiming

/// The bit rates of the tracks, by what was loaded of them.
///
/// They belong to a track and not to a period: segments are loaded before they are played, often before the variant
/// whose they are is played at all.
struct TrackBitRates: Sendable, Hashable {
    private struct Sum: Sendable, Hashable {
        var bytes = ByteCount.zero
        var duration = Duration.zero

        var rate: BitRate? { BitRate(bytes, in: duration) }

        mutating func add(_ segment: LoadedSegment) {
            bytes = bytes + segment.bytes
            duration = duration.addingClamped(segment.range.duration.duration)
        }
    }

    /// How many variants are kept; a playlist that changes them all the time starts again.
    private static let mostVariants = 256

    private var video: [String?: Sum] = [:]
    private var audio: [String?: Sum] = [:]

    /// Adds a segment.
    mutating func add(_ segment: LoadedSegment) {
        switch segment.mediaType {
        case .video, .muxed: Self.add(segment, to: &video)
        case .audio: Self.add(segment, to: &audio)
        case .subtitles: break
        }
    }

    /// Forgets the sound: another rendition is heard from now on.
    mutating func forgetAudio() {
        audio = [:]
    }

    /// The bit rate of the picture of a variant, or of picture and sound in one.
    func videoRate(of variant: VariantDescription?) -> BitRate? { rate(of: variant, in: video) }

    /// The bit rate of the sound of a variant.
    func audioRate(of variant: VariantDescription?) -> BitRate? { rate(of: variant, in: audio) }

    private func rate(of variant: VariantDescription?, in sums: [String?: Sum]) -> BitRate? {
        // A rendition that several variants share belongs to none of them.
        (sums[variant?.id] ?? sums[nil])?.rate
    }

    private static func add(_ segment: LoadedSegment, to sums: inout [String?: Sum]) {
        if sums.count >= mostVariants, sums[segment.variant?.id] == nil { sums = [:] }
        sums[segment.variant?.id, default: Sum()].add(segment)
    }
}
