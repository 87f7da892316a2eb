import Foundation
import HLSPlaylist
import MediaTiming
import ResourceAddressing
import Testing

@testable import AssetStorage

/// Tests the list of files of a package and their names.
@Suite struct PackagePlanTests {
    private static let origin = TemporaryLibrary.origin

    /// Returns each file as a line: kind, position, path, address, byte range, start and duration.
    private func lines(
        _ playlist: MediaPlaylist,
        role: StoredRendition.Role = .variant,
        paths: [PackagePlan.Identity: String] = [:]
    ) -> [String] {
        var lines: [String] = []
        PackagePlan(folder: "f", role: role, playlist: playlist, paths: paths).forEachResource { file in
            let address = file.address.text.replacing(Self.origin, with: "")
            let range = file.byteRange?.description ?? "-"
            let time = "\(file.timeRange.start)+\(file.timeRange.duration)"
            lines.append("\(file.kind.rawValue) \(file.position) \(file.path) \(address) \(range) \(time)")
        }
        return lines
    }

    /// Returns the local playlist without the lines that all playlists of these tests have in common.
    private func local(
        _ playlist: MediaPlaylist,
        role: StoredRendition.Role = .variant,
        paths: [PackagePlan.Identity: String] = [:]
    ) throws -> String {
        let plan = PackagePlan(folder: "f", role: role, playlist: playlist, paths: paths)
        return String(decoding: plan.localPlaylist, as: UTF8.self)
            .replacing("#EXTM3U\n#EXT-X-TARGETDURATION:4\n", with: "").replacing("#EXT-X-ENDLIST\n", with: "")
    }

    private let encrypted = Result {
        try TemporaryLibrary.media(
            #"#EXT-X-KEY:METHOD=AES-128,URI="key?id=1",IV=0x01"#,
            #"#EXT-X-MAP:URI="init.mp4""#,
            #"#EXT-X-KEY:METHOD=AES-128,URI="key",IV=0x02"#,
            "#EXTINF:4,",
            "0.m4s?sig=a%2Fb",
            "#EXT-X-GAP",
            "#EXTINF:4,",
            "1.m4s",
            #"#EXT-X-KEY:METHOD=AES-128,URI="key",IV=0x03"#,
            #"#EXT-X-KEY:METHOD=SAMPLE-AES,URI="skd://drm",KEYFORMAT="com.apple.streamingkeydelivery""#,
            "#EXTINF:2.5,",
            "#EXT-X-BYTERANGE:10@20",
            "2.m4s"
        )
    }

    @Test func keysAndInitializationSectionsAppearOnceBeforeTheirSegments() throws {
        #expect(
            lines(try encrypted.get()) == [
                "key -1 f/key-9f521ab0ec29d751f6cd7f04fad35df8.key key - 0+0",
                "key -1 f/key-f8fd5297625cf1970f10f8fd4c6a354d.key key?id=1 - 0+0",
                "initialization -1 f/init-e769962d7a6ac6cd6d14656320a01949.mp4 init.mp4 - 0+0",
                "segment 0 f/000000.m4s 0.m4s?sig=a%2Fb - 0+4",
                "segment 2 f/000002.m4s 2.m4s 10@20 8+2.5",
            ]
        )
    }

    @Test func localPlaylistContainsRelativeURLs() throws {
        #expect(
            try local(try encrypted.get()) == """
                #EXT-X-KEY:METHOD=AES-128,URI="key-f8fd5297625cf1970f10f8fd4c6a354d.key",IV=0x01
                #EXT-X-MAP:URI="init-e769962d7a6ac6cd6d14656320a01949.mp4"
                #EXT-X-KEY:METHOD=AES-128,URI="key-9f521ab0ec29d751f6cd7f04fad35df8.key",IV=0x02
                #EXTINF:4,
                000000.m4s
                #EXT-X-GAP
                #EXTINF:4,
                000001.m4s
                #EXT-X-KEY:METHOD=AES-128,URI="key-9f521ab0ec29d751f6cd7f04fad35df8.key",IV=0x03
                #EXT-X-KEY:METHOD=SAMPLE-AES,URI="skd://drm",KEYFORMAT="com.apple.streamingkeydelivery"
                #EXTINF:2.5,
                000002.m4s

                """
        )
    }

    @Test func rangesOfOneFileHaveSeparateNames() throws {
        let playlist = try TemporaryLibrary.media(
            #"#EXT-X-MAP:URI="all.mp4",BYTERANGE="3@0""#,
            "#EXTINF:4,",
            "#EXT-X-BYTERANGE:10@6",
            "all.mp4",
            "#EXT-X-DISCONTINUITY",
            #"#EXT-X-MAP:URI="all.mp4",BYTERANGE="3@3""#,
            "#EXTINF:4,",
            "#EXT-X-BYTERANGE:10@16",
            "all.mp4",
            #"#EXT-X-MAP:URI="all.mp4",BYTERANGE="3@0""#,
            "#EXTINF:4,",
            "#EXT-X-BYTERANGE:10@26",
            "all.mp4"
        )
        #expect(
            lines(playlist) == [
                "initialization -1 f/init-d237db932fffeeb24d2390454f862020.mp4 all.mp4 3@0 0+0",
                "segment 0 f/000000.mp4 all.mp4 10@6 0+4",
                "initialization -1 f/init-48b3f9c508cab3ab3e2995208f62e018.mp4 all.mp4 3@3 4+0",
                "segment 1 f/000001.mp4 all.mp4 10@16 4+4", "segment 2 f/000002.mp4 all.mp4 10@26 8+4",
            ]
        )
    }

    /// Players use the file extension, and an unexpected extension might have a meaning for a browser.
    @Test(
        arguments: [
            ("a.ts", ".ts", ".ts", ".ts"), ("a.TS", ".ts", ".ts", ".ts"), ("a", ".ts", ".m4s", ".vtt"),
            ("a.", ".ts", ".m4s", ".vtt"), ("a.html", ".ts", ".m4s", ".vtt"), ("b.html/a", ".ts", ".m4s", ".vtt"),
            ("a.b.mp4", ".mp4", ".mp4", ".mp4"), ("a.mp4.php", ".ts", ".m4s", ".vtt"),
            ("a.php?x=.mp4", ".ts", ".m4s", ".vtt"), ("a.webvtt?x=1", ".webvtt", ".webvtt", ".webvtt"),
        ]
    )
    func unknownExtensionsAreReplaced(address: String, plain: String, fragmented: String, subtitles: String) throws {
        let segment = try TemporaryLibrary.media("#EXTINF:4,", address)
        let withMap = try TemporaryLibrary.media(#"#EXT-X-MAP:URI="init""#, "#EXTINF:4,", address)
        #expect(lines(segment) == ["segment 0 f/000000\(plain) \(address) - 0+4"])
        #expect(lines(withMap).last == "segment 0 f/000000\(fragmented) \(address) - 0+4")
        #expect(lines(withMap).first?.hasSuffix(".mp4 init - 0+0") == true)
        #expect(lines(segment, role: .subtitles) == ["subtitle 0 f/000000\(subtitles) \(address) - 0+4"])
        #expect(lines(segment, role: .audio) == ["segment 0 f/000000\(plain) \(address) - 0+4"])
    }

    @Test(
        arguments: [
            "ts", "m2ts", "mp4", "m4s", "m4v", "m4a", "m4f", "cmfv", "cmfa", "cmft", "mov", "aac", "ac3", "ec3", "mp3",
            "flac", "vtt", "webvtt",
        ]
    )
    func mediaExtensionsArePreserved(name: String) throws {
        #expect(
            lines(try TemporaryLibrary.media("#EXTINF:4,", "a.\(name)")) == [
                "segment 0 f/000000.\(name) a.\(name) - 0+4"
            ]
        )
        let map = lines(try TemporaryLibrary.media("#EXT-X-MAP:URI=\"a.\(name)\"", "#EXTINF:4,", "b.m4s"))
        #expect(map.first?.hasSuffix(".\(name) a.\(name) - 0+0") == true)
    }

    @Test(
        arguments: [
            (0, "000000"), (7, "000007"), (12_345, "012345"), (99_999, "099999"), (100_000, "100000"),
            (999_999, "999999"), (1_000_000, "1000000"),
        ]
    )
    func segmentNumbersHaveAtLeastSixDigits(position: Int, name: String) {
        #expect(PackagePlan.number(position) == name)
    }

    private func record(
        _ kind: StoredResource.Kind,
        _ position: Int,
        _ name: String,
        range: ByteRange? = nil
    ) -> ResourceRecord {
        ResourceRecord(
            assetID: "id",
            renditionID: 1,
            position: position,
            kind: kind,
            address: Self.origin + name,
            rangeStart: range?.start,
            rangeLength: range?.length,
            path: "unused",
            start: "0",
            duration: "4"
        )
    }

    @Test func existingNamesOfFilesArePreserved() throws {
        let playlist = try TemporaryLibrary.media(
            #"#EXT-X-KEY:METHOD=AES-128,URI="key",IV=0x02"#,
            #"#EXT-X-MAP:URI="all.mp4",BYTERANGE="3@3""#,
            "#EXTINF:4,",
            "#EXT-X-BYTERANGE:10@20",
            "0.m4s?sig=new",
            "#EXTINF:4,",
            "1.m4s"
        )
        let map = try #require(ByteRange(start: 3, length: 3))
        let range = try #require(ByteRange(start: 20, length: 10))
        let paths = [
            PackagePlan.Identity(record(.key, -1, "key")): "f/k.key",
            PackagePlan.Identity(record(.initialization, -1, "all.mp4", range: map)): "f/i.mp4",
            // A segment is identified by its position alone.
            PackagePlan.Identity(record(.segment, 0, "0.m4s?sig=old", range: range)): "f/zero.m4s",
        ]
        #expect(
            lines(playlist, paths: paths) == [
                "key -1 f/k.key key - 0+0", "initialization -1 f/i.mp4 all.mp4 3@3 0+0",
                "segment 0 f/zero.m4s 0.m4s?sig=new 10@20 0+4", "segment 1 f/000001.m4s 1.m4s - 4+4",
            ]
        )
        #expect(
            try local(playlist, paths: paths) == """
                #EXT-X-KEY:METHOD=AES-128,URI="k.key",IV=0x02
                #EXT-X-MAP:URI="i.mp4"
                #EXTINF:4,
                zero.m4s
                #EXTINF:4,
                000001.m4s

                """
        )
    }

    @Test func namesOfOtherFilesAreNotReused() throws {
        let playlist = try TemporaryLibrary.media(
            #"#EXT-X-MAP:URI="init.mp4""#,
            "#EXTINF:4,",
            "0.m4s"
        )
        let range = try #require(ByteRange(start: 3, length: 3))
        let paths = [
            PackagePlan.Identity(record(.initialization, -1, "other.mp4")): "f/i.mp4",
            PackagePlan.Identity(record(.initialization, -1, "init.mp4", range: range)): "f/j.mp4",
            PackagePlan.Identity(record(.key, -1, "init.mp4")): "f/k.key",
            PackagePlan.Identity(record(.segment, 1, "0.m4s")): "f/one.m4s",
            PackagePlan.Identity(record(.subtitle, 0, "0.m4s")): "f/zero.vtt",
        ]
        #expect(
            lines(playlist, paths: paths) == [
                "initialization -1 f/init-e769962d7a6ac6cd6d14656320a01949.mp4 init.mp4 - 0+0",
                "segment 0 f/000000.m4s 0.m4s - 0+4",
            ]
        )
        #expect(lines(playlist, role: .subtitles, paths: paths).last == "subtitle 0 f/zero.vtt 0.m4s - 0+4")
    }
}
