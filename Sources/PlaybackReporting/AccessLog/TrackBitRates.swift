import MediaTiming

/// The average bit rates of the tracks, computed from the loaded segments.
///
/// They belong to a track, not to a period, because segments are loaded before they are played, often before their
/// variant is played at all.
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

    /// The maximum number of variants; if a playlist has more, the sums are reset.
    private static let maximumVariantCount = 256

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

    /// Removes the sums of audio, because another audio rendition is played from now on.
    mutating func removeAudio() {
        audio = [:]
    }

    /// Returns the bit rate of the video of a variant, including muxed audio.
    func videoRate(of variant: VariantDescription?) -> BitRate? { rate(of: variant, in: video) }

    /// Returns the bit rate of the audio of a variant.
    func audioRate(of variant: VariantDescription?) -> BitRate? { rate(of: variant, in: audio) }

    private func rate(of variant: VariantDescription?, in sums: [String?: Sum]) -> BitRate? {
        // A rendition that several variants share is stored without a variant.
        (sums[variant?.id] ?? sums[nil])?.rate
    }

    private static func add(_ segment: LoadedSegment, to sums: inout [String?: Sum]) {
        if sums.count >= maximumVariantCount, sums[segment.variant?.id] == nil { sums = [:] }
        sums[segment.variant?.id, default: Sum()].add(segment)
    }
}
