import Foundation
import GRDB
import HLSPlaylist
import MediaTiming
import ResourceAddressing
import Testing

@testable import AssetStorage

/// Tests which properties and files a later plan of an asset leaves.
@Suite struct PlanningDetailTests {
    private let temporary: TemporaryLibrary

    init() throws { temporary = try TemporaryLibrary() }

    private var library: AssetLibrary { temporary.library }

    private static let address = ResourceAddress(TemporaryLibrary.origin + "media.m3u8")

    private static func source() throws -> MultivariantPlaylist {
        let playlist = try TemporaryLibrary.multivariant(
            "#EXT-X-STREAM-INF:BANDWIDTH=8,RESOLUTION=640x360",
            "low.m3u8",
            #"#EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=1,URI="i.m3u8""#
        )
        guard case .multivariant(let source) = playlist else { throw StorageError(.damaged, "no variants") }
        return source
    }

    /// Plans media playlists with a selection.
    private func plan(
        _ id: String,
        _ source: Playlist,
        _ renditions: [PlannedRendition],
        selection: String,
        replacing replacement: StoredFileReplacement = .all
    ) throws {
        let lock = try library.lock(id)
        defer { withExtendedLifetime(lock) {} }
        try library.planDownload(
            of: id,
            source: source,
            at: ResourceAddress(TemporaryLibrary.origin + "top.m3u8"),
            renditions: renditions,
            selection: selection,
            replacing: replacement
        )
    }

    /// Returns the code of the error of a call; `nil` if it succeeds.
    private func code(_ body: () throws -> Void) -> String? {
        do {
            try body()
            return nil
        } catch {
            return (error as? StorageError)?.code.rawValue ?? "\(error)"
        }
    }

    // MARK: Properties

    @Test func sizeOfAVariantIsThatOfItsEntry() throws {
        let id = try temporary.enter()
        let source = try Self.source()
        let media = try TemporaryLibrary.media("#EXTINF:4,", "0.ts")
        let described = TemporaryLibrary.rendition(.variant, 0, media, variant: source.variants[0])
        try temporary.plan(id, .multivariant(source), described)
        #expect(try library.asset(id).renditions.map(\.height) == [360])
        try temporary.plan(id, .multivariant(source), TemporaryLibrary.rendition(.variant, 0, media))
        #expect(try library.asset(id).renditions.map(\.height) == [nil])
        #expect(try library.asset(id).renditions.map(\.width) == [nil])
    }

    private func mediaFile(_ playlist: MediaPlaylist) -> PlannedRendition {
        PlannedRendition(
            role: .variant,
            position: -1,
            language: nil,
            variant: nil,
            playlist: playlist,
            address: Self.address,
            mediaFileExtension: ".mp4",
            audioLanguages: ["en"],
            subtitleLanguages: ["de"]
        )
    }

    @Test func sourceChangesBetweenAMediaFileAndAPlaylist() throws {
        let id = try temporary.enter()
        let media = try TemporaryLibrary.media("#EXTINF:4,", "0.mp4")
        for _ in 0..<2 {
            for _ in 0..<2 {
                try temporary.plan(id, .media(media), mediaFile(media))
                let file = try #require(try library.asset(id).renditions.first)
                #expect(file.folder == "file" && file.audioLanguages == ["en"] && file.subtitleLanguages == ["de"])
                #expect(try library.resources(id).map(\.path) == ["file/000000.mp4"])
            }
            try temporary.plan(id, .media(media), TemporaryLibrary.rendition(.variant, -1, media))
            let playlist = try #require(try library.asset(id).renditions.first)
            #expect(playlist.folder == "media" && playlist.audioLanguages.isEmpty)
            #expect(playlist.subtitleLanguages.isEmpty)
        }
    }

    @Test func assetWithAllFilesIsCompleteAfterItsDownload() throws {
        let media = try TemporaryLibrary.media("#EXTINF:4,", "0.ts")
        let id = try temporary.planned(media)
        try temporary.store(library.missingResources(id), of: id)
        #expect(try temporary.planned(media) == id && library.asset(id).state == .partial)
        try library.finish(id)
        #expect(try temporary.planned(media) == id && library.asset(id).state == .complete)
        let more = try TemporaryLibrary.media("#EXTINF:4,", "0.ts", "#EXTINF:4,", "1.ts")
        #expect(try temporary.planned(more) == id && library.asset(id).state == .partial)
    }

    @Test func selectionIsSetWithOrWithoutATitle() throws {
        let id = try temporary.enter("A")
        let other = try temporary.enter("B", from: "other.m3u8")
        try library.setSelection("b", title: nil, of: id)
        #expect(try library.asset(id).selection == "b" && library.asset(id).title == "A")
        try library.setSelection("c", title: "C", of: id)
        #expect(try library.asset(id).selection == "c" && library.asset(id).title == "C")
        #expect(try library.asset(other).selection == "all" && library.asset(other).title == "B")
        #expect(storageError { try library.setSelection("d", title: nil, of: "none") }?.code == "not-found")
    }

    @Test(arguments: [("all", false), ("all&edit=a", true), ("edit=a", false), ("", false)])
    func selectionWithEditsIsEdited(selection: String, isEdited: Bool) {
        #expect(AssetLibrary.isEdited(selection) == isEdited)
    }

    // MARK: Deletions

    /// A key is no segment, and I-frames are often parts of other segments.
    @Test(
        arguments: [(.variant, true, nil), (.variant, false, "would-delete"), (.iFrames, false, nil)]
            as [(StoredRendition.Role, Bool, String?)]
    )
    func segmentsOfAnotherEditAreNotDeleted(role: StoredRendition.Role, storesKeysOnly: Bool, expected: String?) throws
    {
        let id = try temporary.enter()
        let media = try TemporaryLibrary.media(
            #"#EXT-X-KEY:METHOD=AES-128,URI="key",IV=0x01"#,
            "#EXTINF:4,",
            "0.ts"
        )
        let rendition = TemporaryLibrary.rendition(role, 0, media)
        try plan(id, .multivariant(Self.source()), [rendition], selection: "all&edit=a")
        try temporary.store(library.missingResources(id).filter { !storesKeysOnly || $0.kind == .key }, of: id)
        let other = try TemporaryLibrary.multivariant("#EXT-X-STREAM-INF:BANDWIDTH=5", "new.m3u8")
        let replacement = TemporaryLibrary.rendition(.variant, 0, try TemporaryLibrary.media("#EXTINF:4,", "1.ts"))
        let result = code { try plan(id, other, [replacement], selection: "all&edit=b", replacing: .newVersions) }
        #expect(result == expected)
        #expect(try library.resources(id).contains { $0.address.text.hasSuffix("0.ts") } == (expected != nil))
    }

    @Test(arguments: [(.variant, "would-delete"), (.iFrames, nil)] as [(StoredRendition.Role, String?)])
    func segmentsOfAnotherPartAreNotDeleted(role: StoredRendition.Role, expected: String?) throws {
        let id = try temporary.enter()
        let source = Playlist.multivariant(try Self.source())
        func part(_ name: String) throws -> PlannedRendition {
            PlannedRendition(
                role: role,
                position: 0,
                language: nil,
                variant: nil,
                playlist: try TemporaryLibrary.media("#EXTINF:4,", name),
                address: Self.address,
                isPart: true
            )
        }
        try plan(id, source, [part("0.ts")], selection: "first")
        try temporary.store(library.missingResources(id), of: id)
        let result = code { try plan(id, source, [part("1.ts")], selection: "other", replacing: .newVersions) }
        #expect(result == expected)
    }

    /// An I-frame playlist is that of the entry with the same URL, bit rate and resolution.
    @Test func iFramePlaylistFollowsItsEntry() throws {
        let id = try temporary.enter()
        let media = try TemporaryLibrary.media("#EXTINF:4,", "0.ts")
        try temporary.plan(id, .multivariant(Self.source()), TemporaryLibrary.rendition(.iFrames, 0, media))
        let moved = try TemporaryLibrary.multivariant(
            "#EXT-X-STREAM-INF:BANDWIDTH=8,RESOLUTION=640x360",
            "low.m3u8",
            #"#EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=2,URI="i.m3u8""#,
            #"#EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=1,URI="i.m3u8?s=2""#
        )
        try temporary.plan(id, moved)
        let entries = try library.plannedEntries(id)
        #expect(entries.map(\.role) == [.iFrames] && entries.map(\.position) == [1])
    }

    // MARK: Media without variants

    /// The tracks are those of the first file that declares them.
    @Test(
        arguments: [
            (["#EXTINF:4,", "0.ts", "#EXTINF:4,", "1.ts"], "0.ts"),
            (
                ["#EXT-X-MAP:URI=\"a.mp4\"", "#EXTINF:4,", "0.m4s", "#EXT-X-MAP:URI=\"b.mp4\"", "#EXTINF:4,", "1.m4s"],
                "a.mp4"
            ),
            (["#EXT-X-KEY:METHOD=AES-256-GCM,URI=\"k\"", "#EXTINF:4,", "0.ts"], nil),
            (["#EXT-X-KEY:METHOD=AES-128,URI=\"k\",IV=0x01", "#EXTINF:4,", "0.ts"], nil),
        ] as [([String], String?)]
    )
    func mediaIsDescribedByItsFirstFile(lines: [String], name: String?) throws {
        let header = ["#EXTM3U", "#EXT-X-VERSION:8", "#EXT-X-TARGETDURATION:4"]
        let id = try temporary.planned(try TemporaryLibrary.playlist(header + lines))
        try temporary.store(library.missingResources(id), of: id)
        #expect(try library.undescribedMedia(of: id)?.resource.address.lastPathComponent == name)
    }

    @Test func tracksOfAMediaFileAreKnown() throws {
        let id = try temporary.enter()
        let media = try TemporaryLibrary.media("#EXTINF:4,", "0.mp4")
        try temporary.plan(id, .media(media), mediaFile(media))
        try library.catalog.write { try $0.execute(sql: "UPDATE rendition SET audioLanguages = NULL") }
        try temporary.store(library.missingResources(id), of: id)
        #expect(try library.undescribedMedia(of: id) == nil)
    }

    /// The bit rate of a source without variants is that of its segments.
    @Test(arguments: [("0.5", "12345", 80), ("1", "1", 8), ("0", "12345", nil)] as [(String, String, Int64?)])
    func bitRateIsThatOfTheStoredSegments(duration: String, content: String, rate: Int64?) throws {
        let id = try temporary.planned(try TemporaryLibrary.media("#EXTINF:\(duration),", "0.ts"))
        try temporary.store(library.missingResources(id), of: id, content: content)
        let rendition = try #require(try library.asset(id).renditions.first)
        #expect(rendition.averageBitRate == rate.map { BitRate(bitsPerSecond: $0) })
    }
}
