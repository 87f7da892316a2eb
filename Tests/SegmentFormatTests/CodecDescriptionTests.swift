import SegmentFormat
import Testing

@Suite struct CodecDescriptionTests {
    static func entry(_ handler: String, _ entry: [UInt8]) throws -> SampleEntry {
        let track = Movies.track(1, handler: handler, timescale: 1_000, entry: entry)
        let movie = try Movie(reading: box("moov", Movies.movieHeader(), track))
        return try #require(movie.tracks.first?.sampleEntries.first)
    }

    static let hevc = box("hvcC", [1, 0x01] + u32(0x6000_0000) + [0x90, 0, 0, 0, 0, 0] + [93])
    static let flac = fullBox(
        "dfLa",
        0,
        0,
        [0x80] + u24(34) + zeros(10),
        u64(96_000 << 44 | 1 << 41 | 23 << 36),
        zeros(16)
    )
    static let hevcHigh = box("hvcC", [1, 0xA2] + u32(0x2000_0000) + [0xB0, 0, 0, 0, 0, 1] + [150])

    static let videoEntries: [(String, [UInt8], String)] = [
        ("avc1", Movies.avcConfiguration, "avc1.64001f"),
        ("avc3", box("avcC", [1, 0x42, 0xC0, 0x0D]), "avc3.42c00d"),
        ("hvc1", hevc, "hvc1.1.6.L93.90"),
        ("hev1", hevcHigh, "hev1.B2.4.H150.B0.0.0.0.0.1"),
        ("dvh1", box("dvcC", [1, 0] + u16(5 << 9 | 6 << 3)), "dvh1.05.06"),
        ("av01", box("av1C", [0x81, 0x04, 0x0C, 0x00]), "av01.0.04M.08"),
        ("av01", box("av1C", [0x81, 0x2D, 0xCC, 0x00]), "av01.1.13H.10"),
        ("vp09", fullBox("vpcC", 1, 0, [2, 31, 0xA2]), "vp09.02.31.10"),
        ("avc1", [] as [UInt8], "avc1"),
        ("mjpg", [], "mjpg"),
    ]

    @Test(arguments: videoEntries)
    func videoCodecsHaveRFC6381Strings(_ format: String, _ configuration: [UInt8], _ codec: String) throws {
        let entry = try Self.entry("vide", Movies.visualEntry(format, configuration))
        #expect(entry.codec == codec)
        #expect(entry.width == 640)
        #expect(entry.height == 360)
    }

    static let audioEntries: [(String, [UInt8], String, Int, Int)] = [
        ("mp4a", Movies.elementaryStream(), "mp4a.40.2", 2, 48_000),
        // HE-AAC: object type 5 with a core at 24 kHz and an output at 48 kHz; HE-AAC v2 outputs two channels for one.
        ("mp4a", Movies.elementaryStream([0x2B, 0x11, 0x88, 0x00]), "mp4a.40.5", 2, 48_000),
        ("mp4a", Movies.elementaryStream([0xEB, 0x09, 0x88, 0x00]), "mp4a.40.29", 2, 48_000),
        // xHE-AAC: object type 42, encoded as the escape value 31 followed by 10.
        ("mp4a", Movies.elementaryStream([0xF9, 0x46, 0x40]), "mp4a.40.42", 2, 48_000),
        ("mp4a", Movies.elementaryStream([], objectType: 0x6B), "mp4a.6b", 2, 44_100),
        ("mp4a", box("wave", Movies.elementaryStream()), "mp4a.40.2", 2, 48_000),
        ("ac-3", box("dac3", [0x10, 0x3D, 0xE0]), "ac-3", 6, 48_000),
        ("ec-3", box("dec3", [0x18, 0x00, 0x20, 0x0F, 0x00]), "ec-3", 6, 48_000),
        // A dependent substream with locations: none, Lrs/Rrs (7.1), Cs (6.1), Lrs/Rrs and Lvh/Rvh, all.
        ("ec-3", box("dec3", [0x18, 0x00, 0x20, 0x0F, 0x02, 0x00]), "ec-3", 6, 48_000),
        ("ec-3", box("dec3", [0x18, 0x00, 0x20, 0x0F, 0x02, 0x02]), "ec-3", 8, 48_000),
        ("ec-3", box("dec3", [0x18, 0x00, 0x20, 0x0F, 0x02, 0x04]), "ec-3", 7, 48_000),
        ("ec-3", box("dec3", [0x18, 0x00, 0x20, 0x0F, 0x02, 0x42]), "ec-3", 10, 48_000),
        ("ec-3", box("dec3", [0x18, 0x00, 0x20, 0x0F, 0x03, 0xFF]), "ec-3", 20, 48_000),
        // The box ends before the locations.
        ("ec-3", box("dec3", [0x18, 0x00, 0x20, 0x0F, 0x02]), "ec-3", 6, 48_000),
        ("Opus", box("dOps", [0, 6, 0, 0] + u32(48_000) + [0, 0, 1]), "Opus", 6, 48_000),
        ("fLaC", flac, "fLaC", 2, 96_000),
        ("alac", [], "alac", 2, 44_100),
    ]

    @Test(arguments: audioEntries)
    func audioCodecsHaveRFC6381Strings(
        _ format: String,
        _ configuration: [UInt8],
        _ codec: String,
        _ channels: Int,
        _ rate: Int
    ) throws {
        let entry = try Self.entry("soun", Movies.audioEntry(format, channels: 2, rate: 44_100, configuration))
        #expect(entry.codec == codec)
        #expect(entry.channelCount == channels)
        #expect(entry.sampleRate == rate)
    }

    static let subtitleEntries: [(String, [UInt8], String)] = [
        ("wvtt", [] as [UInt8], "wvtt"),
        ("tx3g", zeros(30), "tx3g"),
        (
            "stpp",
            ascii("http://www.w3.org/ns/ttml") + [0, 0, 0]
                + fullBox("mime", 0, 0, ascii("application/ttml+xml;codecs=im1t") + [0]),
            "stpp.ttml.im1t"
        ),
        ("stpp", ascii("http://www.w3.org/ns/ttml") + [0, 0, 0], "stpp.ttml"),
        ("stpp", ascii("urn:other") + [0, 0, 0], "stpp"),
    ]

    @Test(arguments: subtitleEntries)
    func subtitleCodecsHaveRFC6381Strings(_ format: String, _ content: [UInt8], _ codec: String) throws {
        #expect(try Self.entry("subt", box(format, zeros(6), u16(1), content)).codec == codec)
    }

    @Test func quickTimeAudioEntriesAreParsed() throws {
        let second =
            zeros(6) + u16(1) + u16(2) + zeros(6) + u16(3) + u16(16) + u16(0xFFFE) + zeros(2) + u32(0x1_0000)
            + u32(72) + u64(Int(Double(96_000).bitPattern)) + u32(6) + zeros(20)
        let entry = try Self.entry("soun", box("lpcm", second))
        #expect(entry.sampleRate == 96_000)
        #expect(entry.channelCount == 6)
    }
}
