/// Writes small fragmented MP4 files with one track and times in milliseconds (ISO/IEC 14496-12).
enum FragmentedMovie {
    /// The type of the track.
    enum Track {
        case video, audio

        fileprivate var handler: String { self == .video ? "vide" : "soun" }

        fileprivate var entry: [UInt8] {
            switch self {
            case .video: FragmentedMovie.videoEntry
            case .audio: FragmentedMovie.audioEntry
            }
        }
    }

    private static let videoEntry = box(
        "avc1",
        zeros(6),
        number(1, 2),
        zeros(16),
        number(640, 2),
        number(360, 2),
        zeros(50)
    )
    private static let audioEntry = box(
        "mp4a",
        zeros(6),
        number(1, 2),
        zeros(8),
        number(2, 2),
        number(16, 2),
        zeros(4),
        number(48_000 << 16, 4)
    )

    /// Returns a media initialization section.
    ///
    /// - Parameters:
    ///   - track: The type of the track.
    ///   - timescale: The units per second of the media of the track; those of the movie are milliseconds.
    ///   - edits: The edit list: durations in milliseconds, and media times in units of the timescale.
    /// - Returns: The bytes.
    static func initialization(
        _ track: Track,
        timescale: Int = 1_000,
        edits: [(duration: Int, time: Int)] = []
    ) -> [UInt8] {
        let list = edits.flatMap { number($0.duration, 4) + number($0.time, 4) + number(0x10000, 4) }
        let editList = edits.isEmpty ? [] : box("edts", full("elst", number(edits.count, 4), list))
        let description = full("stsd", number(1, 4), track.entry)
        let media = box(
            "mdia",
            full("mdhd", zeros(8), number(timescale, 4), zeros(4), number(0x55C4, 2), zeros(2)),
            full("hdlr", zeros(4), Array(track.handler.utf8), zeros(13)),
            box("minf", box("stbl", description))
        )
        let defaults = full("trex", number(1, 4), number(1, 4), number(100, 4), number(4, 4), zeros(4))
        return box(
            "moov",
            full("mvhd", zeros(8), number(1_000, 4), zeros(84)),
            box("trak", full("tkhd", zeros(8), number(1, 4), zeros(68)), editList, media),
            box("mvex", defaults)
        )
    }

    /// Returns a movie fragment with two samples that starts at a time.
    ///
    /// - Parameters:
    ///   - time: The decode time of the first sample, in units of the timescale.
    ///   - offsets: The composition offsets of both samples; empty for none.
    /// - Returns: The bytes.
    static func fragment(at time: Int, offsets: [Int] = []) -> [UInt8] {
        let flags = offsets.isEmpty ? 0 : 0x800
        let track = box(
            "traf",
            full("tfhd", flags: 0x20000, number(1, 4)),
            full("tfdt", number(time, 4)),
            full("trun", flags: flags, number(2, 4), offsets.flatMap { number($0, 4) })
        )
        return box("moof", full("mfhd", number(1, 4)), track) + box("mdat", zeros(8))
    }

    private static func number(_ value: Int, _ count: Int) -> [UInt8] {
        (0..<count).reversed().map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
    }

    private static func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }

    private static func box(_ type: String, _ parts: [UInt8]...) -> [UInt8] {
        let payload = parts.flatMap { $0 }
        return [number(payload.count + 8, 4), Array(type.utf8), payload].flatMap { $0 }
    }

    private static func full(_ type: String, flags: Int = 0, _ parts: [UInt8]...) -> [UInt8] {
        box(type, number(flags, 4), parts.flatMap { $0 })
    }
}
