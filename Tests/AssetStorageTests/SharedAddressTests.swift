import Foundation
import HLSPlaylist
import MediaTiming
import ResourceAddressing
import Testing

@testable import AssetStorage

/// Tests how the files of an asset are found by their URLs at the origin.
@Suite struct SharedAddressTests {
    private let temporary: TemporaryLibrary
    private static let origin = TemporaryLibrary.origin

    init() throws { temporary = try TemporaryLibrary() }

    private var library: AssetLibrary { temporary.library }

    private static func address(_ name: String) -> ResourceAddress { ResourceAddress(origin + name) }

    private static func source() throws -> Playlist {
        try TemporaryLibrary.multivariant(
            #"#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="E",LANGUAGE="en",URI="en.m3u8""#,
            #"#EXT-X-STREAM-INF:BANDWIDTH=800000,AUDIO="a""#,
            "low.m3u8",
            #"#EXT-X-STREAM-INF:BANDWIDTH=1600000,AUDIO="a""#,
            "high.m3u8"
        )
    }

    private static func rendition(
        _ role: StoredRendition.Role = .variant,
        _ position: Int = 0,
        _ playlist: MediaPlaylist,
        at name: String = "cdn.m3u8",
        isPart: Bool = false
    ) -> PlannedRendition {
        PlannedRendition(
            role: role,
            position: position,
            language: nil,
            variant: nil,
            playlist: playlist,
            address: address(name),
            isPart: isPart
        )
    }

    /// Plans renditions of a source that was redirected from `start.m3u8` to `top.m3u8`.
    private func plan(_ renditions: PlannedRendition..., selection: String? = nil) throws -> String {
        let id = try temporary.enter(from: "start.m3u8")
        let lock = try library.lock(id)
        defer { withExtendedLifetime(lock) {} }
        try library.planDownload(
            of: id,
            source: try Self.source(),
            at: Self.address("top.m3u8"),
            renditions: renditions,
            selection: selection
        )
        return id
    }

    private static func media(_ name: String) throws -> MediaPlaylist {
        try TemporaryLibrary.media("#EXTINF:4,", "\(name)0.ts", "#EXTINF:4,", "\(name)1.ts")
    }

    // MARK: Assets

    private func wholeVariants() throws -> [String]? {
        try library.sharableAsset(source: Self.address("start.m3u8"))?.wholeVariants.map(\.folder)
    }

    @Test func assetIsSharedWithItsWholeVariants() throws {
        #expect(try wholeVariants() == nil)
        let id = try temporary.enter(from: "start.m3u8")
        // The playlists are not loaded yet.
        #expect(try wholeVariants() == nil)
        _ = try plan(
            Self.rendition(.variant, 0, try Self.media("a")),
            Self.rendition(.variant, 1, try Self.media("b")),
            Self.rendition(.audio, 0, try Self.media("c"))
        )
        #expect(try wholeVariants() == [])
        try temporary.store(library.missingResources(id, after: nil, in: ["variant-0", "audio-0"]), of: id)
        #expect(try wholeVariants() == ["variant-0"])
        #expect(try library.sharableAsset(source: Self.address("start.m3u8"))?.asset.id == id)
        #expect(try library.sharableAsset(source: Self.address("top.m3u8"))?.asset.id == nil)
        let moved = temporary.directory.appendingPathComponent("moved")
        try FileManager.default.moveItem(at: library.packageDirectory(id), to: moved)
        #expect(try wholeVariants() == nil)
    }

    @Test func partOfAPresentationIsNotAWholeVariant() throws {
        let id = try plan(
            Self.rendition(.variant, 0, try Self.media("a"), isPart: true),
            Self.rendition(.variant, 1, try Self.media("b"))
        )
        try temporary.complete(id)
        #expect(try wholeVariants() == ["variant-1"])
    }

    @Test(arguments: [("all&edit=x", false), ("all", true)])
    func editedAssetIsNotShared(selection: String, isShared: Bool) throws {
        let id = try plan(Self.rendition(.variant, 0, try Self.media("a")), selection: selection)
        try temporary.complete(id)
        #expect(try (wholeVariants() != nil) == isShared)
    }

    // MARK: Playlists

    @Test func playlistsAreFoundByTheirURLs() throws {
        let (low, high) = (try Self.media("a"), try Self.media("b"))
        let id = try plan(
            Self.rendition(.variant, 0, low, at: "cdn-low.m3u8"),
            Self.rendition(.variant, 1, high, at: "cdn-high.m3u8", isPart: true),
            Self.rendition(.audio, 0, try Self.media("c"), at: "cdn-en.m3u8")
        )
        func found(_ name: String) throws -> String? {
            try library.playlist(at: Self.address(name), of: id).map {
                "\($0.address.text.replacing(Self.origin, with: "")) \($0.bytes.count)"
            }
        }
        let source = try Self.source()
        for name in ["start.m3u8", "top.m3u8"] { #expect(try found(name) == "top.m3u8 \(source.bytes.count)") }
        for name in ["low.m3u8", "cdn-low.m3u8"] { #expect(try found(name) == "cdn-low.m3u8 \(low.bytes.count)") }
        #expect(try found("en.m3u8")?.hasPrefix("cdn-en.m3u8 ") == true)
        // A player needs the entire playlist.
        for name in ["high.m3u8", "cdn-high.m3u8", "other.m3u8"] { #expect(try found(name) == nil) }
        let unloaded = try temporary.enter(from: "unloaded.m3u8")
        #expect(try library.playlist(at: Self.address("unloaded.m3u8"), of: unloaded)?.bytes == nil)
    }

    // MARK: Files

    @Test func filesAreFoundByTheirURLsAndByteRanges() throws {
        let media = try TemporaryLibrary.media(
            "#EXTINF:4,",
            "#EXT-X-BYTERANGE:4@2",
            "all.ts",
            "#EXTINF:4,",
            "1.ts"
        )
        let id = try plan(Self.rendition(.variant, 0, media))
        let range = ByteRange(start: 2, length: 4)
        #expect(try library.resource(at: Self.address("all.ts"), range, of: id)?.path == "variant-0/000000.ts")
        #expect(try library.resource(at: Self.address("1.ts"), nil, of: id)?.path == "variant-0/000001.ts")
        for (name, range) in [
            ("all.ts", nil), ("all.ts", ByteRange(start: 2, length: 5)), ("all.ts", ByteRange(start: 3, length: 4)),
            ("1.ts", range), ("2.ts", nil),
        ] as [(String, ByteRange?)] {
            #expect(try library.resource(at: Self.address(name), range, of: id) == nil)
        }
        #expect(library.storedFile(at: Self.address("1.ts"), of: id) == nil)
        try temporary.complete(id)
        let package = library.packageDirectory(id).path
        #expect(library.storedFile(at: Self.address("1.ts"), of: id) == package + "/variant-0/000001.ts")
        #expect(library.storedFile(at: Self.address("all.ts"), range, of: id) == package + "/variant-0/000000.ts")
        #expect(library.storedFile(at: Self.address("all.ts"), of: id) == nil)
        try FileManager.default.removeItem(at: temporary.url("variant-0/000001.ts", of: id))
        #expect(library.storedFile(at: Self.address("1.ts"), of: id) == nil)
        #expect(try library.mediaFile(of: id) == nil)
    }

    @Test(arguments: [("0123456789abcdef", true), ("0123456789abcde", false)])
    func keyIsReadIfItIsWhole(content: String, isRead: Bool) throws {
        let media = try TemporaryLibrary.media(#"#EXT-X-KEY:METHOD=AES-128,URI="key",IV=0x01"#, "#EXTINF:4,", "0.ts")
        let id = try plan(Self.rendition(.variant, 0, media))
        #expect(library.storedKey(at: Self.address("key"), .key, of: id) == nil)
        try temporary.store(library.missingResources(id).filter { $0.kind == .key }, of: id, content: content)
        let key = isRead ? Array(content.utf8) : nil
        #expect(library.storedKey(at: Self.address("key"), .key, of: id) == key)
        #expect(library.storedKey(at: Self.address("key"), .longKey, of: id) == nil)
        #expect(library.storedKey(at: Self.address("other"), .key, of: id) == nil)
        #expect(library.storedKey(at: Self.address("0.ts"), .segment, of: id) == nil)
    }

    @Test func copyOfAnotherPlaylistIsFound() throws {
        let id = try plan(
            Self.rendition(.variant, 0, try Self.media("a")),
            Self.rendition(.variant, 1, try Self.media("a")),
            Self.rendition(.subtitles, 0, try Self.media("a"))
        )
        let missing = try library.missingResources(id)
        func resource(_ path: String) throws -> StoredResource { try #require(missing.first { $0.path == path }) }
        let other = try resource("variant-1/000000.ts")
        #expect(library.storedCopy(of: other) == nil)
        try temporary.store([try resource("variant-0/000000.ts")], of: id)
        #expect(library.storedCopy(of: other) == library.packageDirectory(id).path + "/variant-0/000000.ts")
        // The file itself is no copy, and a subtitle is no segment.
        for path in ["variant-0/000000.ts", "variant-1/000001.ts", "subtitles-0/000000.ts"] {
            #expect(try library.storedCopy(of: resource(path)) == nil)
        }
    }

    // MARK: Keys and initialization sections

    @Test(arguments: [(false, false), (false, true), (true, false), (true, true)])
    func playlistMayNameKeysIfItHasSomeOrIsAPart(isPart: Bool, isEncrypted: Bool) throws {
        let key = isEncrypted ? [#"#EXT-X-KEY:METHOD=AES-128,URI="key",IV=0x01"#] : []
        let media = try TemporaryLibrary.playlist(
            ["#EXTM3U", "#EXT-X-TARGETDURATION:4"] + key + ["#EXT-X-MAP:URI=\"init.mp4\"", "#EXTINF:4,", "0.m4s"]
        )
        let id = try plan(Self.rendition(.variant, 0, media, isPart: isPart))
        let segment = try #require(try library.resources(id).first { $0.kind == .segment })
        #expect(try library.mayNameKeys(segment) == (isPart || isEncrypted))
        #expect(try library.namesKeys(for: segment) == isEncrypted)
        // What is unknown may be encrypted.
        try library.delete(id)
        #expect(try library.mayNameKeys(segment) && library.namesKeys(for: segment))
    }

    @Test func storedInitializationSectionsAreListed() throws {
        let media = try TemporaryLibrary.media("#EXT-X-MAP:URI=\"init.mp4\"", "#EXTINF:4,", "0.m4s")
        let id = try plan(Self.rendition(.variant, 0, media))
        #expect(try library.storedInitializationSections(id).isEmpty)
        try temporary.complete(id)
        let sections = try library.storedInitializationSections(id)
        #expect(sections.map(\.address.lastPathComponent) == ["init.mp4"] && sections.map(\.folder) == ["variant-0"])
    }

    // MARK: Signatures

    private func add(_ source: String) throws -> String {
        try library.addAsset(source: ResourceAddress(source), title: "A", selection: "")
    }

    private func found(_ source: String) throws -> String? {
        try library.asset(differingInSignatureFrom: ResourceAddress(source))?.id
    }

    @Test func assetWithAnotherSignatureIsFound() throws {
        let id = try add("https://h/a.m3u8?q=1&token=abc")
        _ = try add("https://h/a.m3u8x?q=1&token=abc")
        _ = try add("https://h/a.m3u8?q=2&token=abc")
        #expect(try found("https://h/a.m3u8?q=1&token=def") == id)
        #expect(try found("https://h/a.m3u8?q=1") == id)
        // An asset with exactly this URL is not one with another signature.
        #expect(try found("https://h/a.m3u8?q=1&token=abc") == nil)
        for other in ["https://h/a.m3u8?q=3&token=def", "https://h/b.m3u8?q=1&token=def", "/h/a.m3u8?q=1&token=def"] {
            #expect(try found(other) == nil, "\(other)")
        }
        // Several assets may be meant.
        let second = try add("https://h/a.m3u8?q=1&token=ghi")
        #expect(try found("https://h/a.m3u8?q=1&token=def") == nil)
        try library.delete(id)
        #expect(try found("https://h/a.m3u8?q=1&token=def") == second)
    }

    @Test func sourceIsReplaced() throws {
        let (first, second) = (try add("https://h/a.m3u8?token=abc"), try add("https://h/b.m3u8"))
        let new = ResourceAddress("https://h/a.m3u8?token=def")
        let former = try library.asset(first).source
        for (name, source) in [("same", former), ("other", ResourceAddress("https://h/other.m3u8"))] {
            try library.addDownload(
                DownloadRecord.films(id: name, of: first, from: source, state: .failed)
            )
        }
        try library.replaceSource(of: first, with: former)
        #expect(storageError { try library.replaceSource(of: second, with: former) }?.code == "asset-busy")
        try library.replaceSource(of: first, with: new)
        #expect(try library.asset(first).source == new && library.asset(second).source.text == "https://h/b.m3u8")
        #expect(try library.downloads().map(\.source.text) == [new.text, "https://h/other.m3u8"])
    }

    @Test func playlistsAreThoseOfTheAssetIfTheyHaveItsSegments() throws {
        let source = try Self.source()
        let id = try temporary.enter(from: "start.m3u8")
        let (stored, other) = (try Self.media("a"), try Self.media("x"))
        // The playlists are not loaded yet.
        #expect(try library.hasPlaylists(source, [Self.rendition(.variant, 0, other)], of: id))
        _ = try plan(Self.rendition(.variant, 0, stored), Self.rendition(.iFrames, 0, stored))
        #expect(try library.hasPlaylists(source, [Self.rendition(.variant, 0, stored)], of: id))
        #expect(try !library.hasPlaylists(source, [Self.rendition(.variant, 0, other)], of: id))
        let both = [Self.rendition(.variant, 0, stored), Self.rendition(.variant, 1, other)]
        // Nothing is stored of the second variant, and I-frames are not compared.
        #expect(try library.hasPlaylists(source, both, of: id))
        #expect(try library.hasPlaylists(source, [Self.rendition(.iFrames, 0, other)], of: id))
        #expect(try !library.hasPlaylists(.media(stored), [Self.rendition(.variant, -1, stored)], of: id))
        // The variants have other positions, and one of them is new.
        let moved = try TemporaryLibrary.multivariant(
            "#EXT-X-STREAM-INF:BANDWIDTH=5",
            "new.m3u8",
            #"#EXT-X-STREAM-INF:BANDWIDTH=800000,AUDIO="a""#,
            "low.m3u8?s=2"
        )
        #expect(try library.hasPlaylists(moved, [Self.rendition(.variant, 1, stored)], of: id))
        #expect(try !library.hasPlaylists(moved, [Self.rendition(.variant, 1, other)], of: id))
        #expect(try library.hasPlaylists(moved, [Self.rendition(.variant, 0, other)], of: id))
        let unrelated = try TemporaryLibrary.multivariant("#EXT-X-STREAM-INF:BANDWIDTH=5", "new.m3u8")
        #expect(try !library.hasPlaylists(unrelated, [], of: id))
    }

    @Test func mediaPlaylistIsThatOfTheAssetIfItHasItsSegments() throws {
        let (stored, other) = (try Self.media("a"), try Self.media("x"))
        let id = try temporary.planned(stored)
        #expect(try library.hasPlaylists(.media(stored), [Self.rendition(.variant, -1, stored)], of: id))
        #expect(try !library.hasPlaylists(.media(other), [Self.rendition(.variant, -1, other)], of: id))
        #expect(try !library.hasPlaylists(Self.source(), [Self.rendition(.variant, 0, stored)], of: id))
    }
}
