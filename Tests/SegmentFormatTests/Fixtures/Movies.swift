/// Synthetic movies of ISO/IEC 14496-12.
enum Movies {
    static let fileType = box("ftyp", ascii("isom"), u32(0), ascii("isomiso6"))

    static func movieHeader(timescale: Int = 1_000, duration: Int = 0) -> [UInt8] {
        fullBox("mvhd", 0, 0, u32(0), u32(0), u32(timescale), u32(duration), zeros(80))
    }

    static func trackHeader(_ id: Int) -> [UInt8] {
        fullBox("tkhd", 0, 7, u32(0), u32(0), u32(id), zeros(68))
    }

    static func mediaHeader(timescale: Int, duration: Int, language: String) -> [UInt8] {
        let packed = language.utf8.reduce(0) { $0 << 5 | (Int($1) - 0x60) }
        return fullBox("mdhd", 0, 0, u32(0), u32(0), u32(timescale), u32(duration), u16(packed), u16(0))
    }

    static func handler(_ type: String) -> [UInt8] { fullBox("hdlr", 0, 0, u32(0), ascii(type), zeros(13)) }

    static func visualEntry(_ format: String, width: Int = 640, height: Int = 360, _ children: [UInt8]...) -> [UInt8] {
        box(format, zeros(6), u16(1), zeros(16), u16(width), u16(height), zeros(50), children.flatMap { $0 })
    }

    static func audioEntry(_ format: String, channels: Int = 2, rate: Int = 48_000, _ children: [UInt8]...) -> [UInt8] {
        box(
            format,
            zeros(6) + u16(1) + zeros(8) + u16(channels) + u16(16) + zeros(4) + u32(rate << 16),
            children.flatMap { $0 }
        )
    }

    static let avcConfiguration = box("avcC", [1, 0x64, 0x00, 0x1F, 0xFF, 0xE1])

    /// Returns an `esds` box, by default for AAC-LC at 48 kHz with two channels.
    static func elementaryStream(_ configuration: [UInt8] = [0x11, 0x90], objectType: Int = 0x40) -> [UInt8] {
        let specific = u8(5) + u8(configuration.count) + configuration
        let decoder = u8(4) + u8(13 + specific.count) + u8(objectType) + zeros(12) + specific
        // The length is encoded in four bytes, as most writers do.
        return fullBox("esds", 0, 0, [3, 0x80, 0x80, 0x80], u8(3 + decoder.count), u16(1), u8(0), decoder)
    }

    static func description(_ entry: [UInt8]) -> [UInt8] { fullBox("stsd", 0, 0, u32(1), entry) }

    static func editList(_ edits: [(duration: Int, mediaTime: Int)]) -> [UInt8] {
        let entries = edits.flatMap { u32($0.duration) + u32($0.mediaTime) + u32(0x1_0000) }
        return box("edts", fullBox("elst", 0, 0, u32(edits.count), entries))
    }

    static func track(
        _ id: Int,
        handler type: String,
        timescale: Int,
        duration: Int = 0,
        language: String = "und",
        entry: [UInt8],
        tables: [UInt8] = emptyTables,
        edits: [UInt8] = []
    ) -> [UInt8] {
        box(
            "trak",
            trackHeader(id),
            edits,
            box(
                "mdia",
                mediaHeader(timescale: timescale, duration: duration, language: language),
                handler(type),
                box("minf", box("stbl", description(entry), tables))
            )
        )
    }

    static let emptyTables =
        fullBox("stts", 0, 0, u32(0)) + fullBox("stsc", 0, 0, u32(0)) + fullBox("stsz", 0, 0, u32(0), u32(0))
        + fullBox("stco", 0, 0, u32(0))

    static func table(_ type: String, _ rows: [[Int]]) -> [UInt8] {
        fullBox(type, 0, 0, u32(rows.count), rows.flatMap { $0.flatMap(u32) })
    }

    static func sizes(_ list: [Int]) -> [UInt8] {
        fullBox("stsz", 0, 0, u32(0), u32(list.count), list.flatMap(u32))
    }

    static let videoTrack = track(
        1,
        handler: "vide",
        timescale: 12_800,
        entry: visualEntry("avc1", avcConfiguration)
    )
    static let audioTrack = track(
        2,
        handler: "soun",
        timescale: 48_000,
        language: "deu",
        entry: audioEntry("mp4a", elementaryStream())
    )

    static func defaults(_ id: Int, duration: Int = 0, flags: Int = 0) -> [UInt8] {
        fullBox("trex", 0, 0, u32(id), u32(1), u32(duration), u32(0), u32(flags))
    }

    /// The initialization section of two tracks: video with a timescale of 12,800 and audio with a timescale of 48,000.
    static let initialization =
        fileType
        + box(
            "moov",
            movieHeader(),
            videoTrack,
            audioTrack,
            box("mvex", defaults(1, duration: 512, flags: 0x101_0000), defaults(2, duration: 1_024))
        )

    /// Returns a fragment with `mdat`: 50 video samples (2 s) and 94 audio samples.
    static func fragment(
        _ number: Int,
        base: Int,
        isSync: Bool = true,
        payload: Int = 400
    ) -> [UInt8] {
        let video = box(
            "traf",
            fullBox("tfhd", 0, 0x2_0000, u32(1)),
            fullBox("tfdt", 1, 0, u64(base)),
            fullBox("trun", 0, isSync ? 0x5 : 0x1, u32(50), u32(0), isSync ? u32(0x200_0000) : [])
        )
        let audio = box(
            "traf",
            fullBox("tfhd", 0, 0x2_0000, u32(2)),
            fullBox("tfdt", 1, 0, u64(base * 48_000 / 12_800)),
            fullBox("trun", 0, 0x1, u32(94), u32(0))
        )
        return box("moof", fullBox("mfhd", 0, 0, u32(number)), video, audio) + box("mdat", zeros(payload))
    }

    static func index(
        earliest: Int,
        offset: Int = 0,
        _ references: [(isIndex: Bool, size: Int, duration: Int)],
        version: Int = 1,
        track: Int = 1
    ) -> [UInt8] {
        let list = references.flatMap {
            u32(($0.isIndex ? 1 << 31 : 0) | $0.size) + u32($0.duration) + u32(0x9000_0000)
        }
        let width = version == 0 ? u32 : u64
        return fullBox(
            "sidx",
            version,
            0,
            u32(track) + u32(12_800) + width(earliest) + width(offset) + u16(0) + u16(references.count),
            list
        )
    }

    /// Returns a progressive movie of 10 s: 250 video samples with a key frame every 50, and 470 audio samples, in
    /// chunks of 50 and 94.
    ///
    /// The first video sample has a composition offset of two frames, which an edit list compensates. Video samples
    /// have 100 bytes, audio samples 10.
    static func progressive(movieFirst: Bool) -> (bytes: [UInt8], movie: Range<Int>, data: Int) {
        func movie(_ data: Int) -> [UInt8] {
            let chunk = 50 * 100 + 94 * 10
            let video =
                table("stts", [[250, 512]]) + table("ctts", [[250, 1_024]])
                + table("stss", [[1], [51], [101], [151], [201]])
                + table("stsc", [[1, 50, 1]]) + sizes([Int](repeating: 100, count: 250))
                + table("stco", (0..<5).map { [data + $0 * chunk] })
            let audio =
                table("stts", [[470, 1_024]]) + table("stsc", [[1, 94, 1]]) + fullBox("stsz", 0, 0, u32(10), u32(470))
                + table("stco", (0..<5).map { [data + $0 * chunk + 5_000] })
            return box(
                "moov",
                movieHeader(duration: 10_027),
                track(
                    1,
                    handler: "vide",
                    timescale: 12_800,
                    duration: 128_000,
                    entry: visualEntry("avc1", avcConfiguration),
                    tables: video,
                    edits: editList([(10_000, 1_024)])
                ),
                track(
                    2,
                    handler: "soun",
                    timescale: 48_000,
                    duration: 481_280,
                    entry: audioEntry("mp4a", elementaryStream()),
                    tables: audio
                )
            )
        }
        let length = movie(0).count
        let media = zeros(5 * (50 * 100 + 94 * 10))
        if movieFirst {
            let data = fileType.count + length + 8
            return (fileType + movie(data) + box("mdat", media), fileType.count..<fileType.count + length, data)
        }
        let start = fileType.count + 8 + media.count
        return (
            fileType + box("mdat", media) + movie(fileType.count + 8), start..<start + length, fileType.count + 8
        )
    }
}
