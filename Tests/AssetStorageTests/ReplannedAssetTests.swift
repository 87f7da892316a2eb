import Foundation
import HLSPlaylist
import MediaTiming
import ResourceAddressing
import Testing

@testable import AssetStorage

/// Tests which stored files a later plan of an asset may delete.
@Suite struct ReplannedAssetTests {
    private let temporary: TemporaryLibrary

    init() throws { temporary = try TemporaryLibrary() }

    private var library: AssetLibrary { temporary.library }

    private static func media(_ names: [String]) throws -> MediaPlaylist {
        try TemporaryLibrary.playlist(
            ["#EXTM3U", "#EXT-X-TARGETDURATION:4"] + names.flatMap { ["#EXTINF:4,", $0] }
        )
    }

    /// Plans an asset, whose source is a media playlist unless there are variants.
    private func plan(
        _ id: String,
        _ names: [String],
        variants: [String] = [],
        isPart: Bool = false,
        selection: String? = nil,
        replacing replacement: StoredFileReplacement = .all
    ) throws {
        let playlist = try Self.media(names)
        let lines = variants.flatMap { ["#EXT-X-STREAM-INF:BANDWIDTH=8", $0] }
        let text = (["#EXTM3U"] + lines + [""]).joined(separator: "\n")
        let source = try variants.isEmpty ? Playlist.media(playlist) : Playlist.parse(Array(text.utf8))
        let lock = try library.lock(id)
        defer { withExtendedLifetime(lock) {} }
        try library.planDownload(
            of: id,
            source: source,
            at: ResourceAddress(TemporaryLibrary.origin + "top.m3u8"),
            renditions: [
                PlannedRendition(
                    role: .variant,
                    position: variants.isEmpty ? -1 : 0,
                    language: nil,
                    variant: nil,
                    playlist: playlist,
                    address: ResourceAddress(TemporaryLibrary.origin + "media.m3u8"),
                    isPart: isPart
                )
            ],
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

    // MARK: Repairs

    @Test func repairLosesNoStoredFile() throws {
        let id = try temporary.enter()
        try plan(id, ["0.ts", "1.ts"])
        try temporary.complete(id)
        let before = try library.resources(id)
        for (names, files) in [(["2.ts"], "2 files"), (["0.ts"], "1 file")] {
            let error = storageError { try plan(id, names, replacing: .none) }
            #expect(error?.code == "package-damaged")
            #expect(error?.message.contains("they do not have \(files) of the asset; what is stored") == true)
            #expect(try library.resources(id) == before)
        }
        try plan(id, ["0.ts?s=2", "1.ts?s=2"], replacing: .none)
        #expect(try library.resources(id).map(\.path) == before.map(\.path) && library.missingCount(id) == 0)
        // A file that was lost is one that the playlists must have.
        try FileManager.default.removeItem(at: temporary.url("media/000001.ts", of: id))
        try library.removeMissingFilesFromCatalog(id)
        #expect(code { try plan(id, ["0.ts"], replacing: .none) } == "package-damaged")
        try plan(id, ["0.ts", "1.ts"], replacing: .none)
        #expect(try library.missingResources(id).map(\.path) == ["media/000001.ts"])
    }

    @Test func repairNeedsNoFileThatWasNeverStored() throws {
        let id = try temporary.enter()
        try plan(id, ["0.ts", "1.ts"])
        try temporary.store(Array(library.missingResources(id).prefix(1)), of: id)
        try plan(id, ["0.ts"], replacing: .none)
        #expect(try library.resources(id).map(\.path) == ["media/000000.ts"] && library.missingCount(id) == 0)
    }

    // MARK: Parts

    @Test(
        arguments: [
            (true, false, ["1.ts", "2.ts"], "other", .newVersions, "would-delete"),
            (false, true, ["1.ts", "2.ts"], "other", .newVersions, "would-delete"),
            (false, false, ["1.ts", "2.ts"], "other", .newVersions, nil),
            (true, true, ["1.ts", "2.ts"], "other", .all, nil),
            // With the same selection, other segments are those of a new version.
            (true, true, ["1.ts", "2.ts"], "first", .newVersions, nil),
            (true, true, ["0.ts", "1.ts", "2.ts"], "other", .newVersions, nil),
            // The same segments in another order are stored as well.
            (true, true, ["1.ts", "0.ts"], "other", .newVersions, nil),
        ] as [(Bool, Bool, [String], String, StoredFileReplacement, String?)]
    )
    func segmentsOfAnotherPartAreDeletedOnRequest(
        wasPart: Bool,
        isPart: Bool,
        names: [String],
        selection: String,
        replacement: StoredFileReplacement,
        expected: String?
    ) throws {
        let id = try temporary.enter()
        try plan(id, ["0.ts", "1.ts"], isPart: wasPart, selection: "first")
        // What is not stored is not deleted.
        #expect(code { try plan(id, names, isPart: isPart, selection: selection, replacing: replacement) } == nil)
        try plan(id, ["0.ts", "1.ts"], isPart: wasPart, selection: "first")
        try temporary.complete(id)
        let before = try library.resources(id)
        let result = code { try plan(id, names, isPart: isPart, selection: selection, replacing: replacement) }
        #expect(result == expected)
        #expect(try (library.resources(id) == before) == (expected != nil))
        #expect(try library.asset(id).selection == (expected == nil ? selection : "first"))
    }

    @Test func messageHasTheNumberOfSegments() throws {
        let id = try temporary.enter()
        try plan(id, ["0.ts", "1.ts", "2.ts"], isPart: true, selection: "first")
        try temporary.complete(id)
        let error = storageError { try plan(id, ["2.ts"], isPart: true, selection: "b", replacing: .newVersions) }
        let message = "the download would delete 2 stored segments of the asset \(id), which are not in its selection"
        #expect(error?.message == message)
    }

    // MARK: Renditions

    @Test(
        arguments: [
            ("all&edit=a", "all&edit=b", .newVersions, "would-delete"),
            ("all&edit=a", "all", .newVersions, "would-delete"),
            ("all", "all&edit=b", .newVersions, "would-delete"), ("all", "other", .newVersions, nil),
            ("all&edit=a", "all&edit=a", .newVersions, nil), ("all&edit=a", "all&edit=b", .all, nil),
            ("all", "all", .none, "package-damaged"),
        ] as [(String, String, StoredFileReplacement, String?)]
    )
    func renditionThatTheSourceLacksIsDeletedOnRequest(
        former: String,
        selection: String,
        replacement: StoredFileReplacement,
        expected: String?
    ) throws {
        func replan(_ id: String) throws {
            try plan(id, ["x.ts"], variants: ["b.m3u8"], selection: selection, replacing: replacement)
        }
        let id = try temporary.enter()
        try plan(id, ["0.ts"], variants: ["a.m3u8"], selection: former)
        try temporary.complete(id)
        #expect(code { try replan(id) } == expected)
        #expect(try library.resources(id).map(\.address.lastPathComponent) == [expected == nil ? "x.ts" : "0.ts"])
        // Nothing is stored of this one.
        let other = try temporary.enter(from: "other.m3u8")
        try plan(other, ["0.ts"], variants: ["a.m3u8"], selection: former)
        #expect(code { try replan(other) } == nil)
    }

    // MARK: Names

    /// A stored file keeps its name, which a new file must not get.
    @Test func newFilesHaveOtherNamesThanStoredOnes() throws {
        let id = try temporary.enter()
        try plan(id, ["a.ts", "b.ts", "c.ts"])
        try temporary.complete(id)
        try plan(id, ["b.ts", "x.ts", "y.ts", "z.ts"])
        #expect(
            try library.resources(id).map(\.path) == [
                "media/000001.ts", "media/000001-2.ts", "media/000002-2.ts", "media/000003.ts",
            ]
        )
        #expect(try temporary.text("media/media.m3u8", of: id).contains("\n000001.ts\n#EXTINF:4,\n000001-2.ts\n"))
        #expect(try library.missingCount(id) == 3)
        try temporary.complete(id)
        #expect(try library.verify(id) == VerificationResult(damaged: [], withoutChecksum: 0))
        try plan(id, ["x.ts", "w.ts"])
        #expect(try library.resources(id).map(\.path) == ["media/000001-2.ts", "media/000001-3.ts"])
    }

    @Test(
        arguments: [
            (.variant, -1, [], "media"), (.variant, -1, ["media"], "media-0"),
            (.variant, -1, ["media", "media-0"], "media-1"), (.variant, 2, [], "variant-2"),
            (.variant, 2, ["media", "variant-2"], "variant-3"), (.audio, 0, ["variant-0"], "audio-0"),
            (.iFrames, 0, [], "i-frames-0"),
        ] as [(StoredRendition.Role, Int, Set<String>, String)]
    )
    func directoryIsThatOfNoOtherRendition(
        role: StoredRendition.Role,
        position: Int,
        used: Set<String>,
        folder: String
    ) throws {
        let rendition = TemporaryLibrary.rendition(role, position, try Self.media(["0.ts"]))
        #expect(AssetLibrary.unusedFolder(for: rendition, besides: used) == folder)
    }

    @Test func selectionIsReplacedOnRequest() throws {
        let id = try temporary.enter()
        let source = ResourceAddress(TemporaryLibrary.origin + "top.m3u8")
        let again = try library.addAsset(source: source, title: "B", selection: "b", replacesSelection: false)
        #expect(try again == id && library.asset(id).selection == "all")
        let lock = try library.lock(id)
        let playlist = try Self.media(["0.ts"])
        try library.planDownload(of: id, source: .media(playlist), at: source, renditions: [], title: "C")
        withExtendedLifetime(lock) {}
        #expect(try library.asset(id).title == "C" && library.asset(id).selection == "all")
    }

    /// Earlier versions did not write session keys, which are a hint for players.
    @Test func missingSessionKeyIsNoDamage() throws {
        let id = try temporary.enter()
        let media = try TemporaryLibrary.media(#"#EXT-X-KEY:METHOD=AES-128,URI="key",IV=0x01"#, "#EXTINF:4,", "0.ts")
        let source = try TemporaryLibrary.multivariant(
            #"#EXT-X-SESSION-KEY:METHOD=AES-128,URI="key""#,
            "#EXT-X-STREAM-INF:BANDWIDTH=8",
            "v.m3u8"
        )
        try temporary.plan(id, source, TemporaryLibrary.rendition(.variant, 0, media))
        let text = try temporary.text("multivariant.m3u8", of: id)
        #expect(text.contains("URI=\"variant-0/key-9f521ab0ec29d751f6cd7f04fad35df8.key\""))
        let lines = text.split(separator: "\n").filter { !$0.hasPrefix("#EXT-X-SESSION-KEY:") }
        let other = lines.joined(separator: "\n") + "\n"
        #expect(other != text)
        try Data(other.utf8).write(to: temporary.url("multivariant.m3u8", of: id))
        #expect(try library.verify(id).damaged == [])
        #expect(try temporary.text("multivariant.m3u8", of: id) == text)
    }

    // MARK: Unknown files

    @Test func unfinishedFileStaysUntilItIsStored() throws {
        let id = try temporary.enter()
        try plan(id, ["0.ts", "1.ts"])
        let missing = try library.missingResources(id)
        try temporary.store([missing[0]], of: id)
        for name in ["000000.ts.part", "000000.ts.resume", "000001.ts.part", "000001.ts.resume", "000001.ts"] {
            try Data("1.ts".utf8).write(to: temporary.url("media/\(name)", of: id))
        }
        let unknown = ["media/000000.ts.part", "media/000000.ts.resume", "media/000001.ts"]
        #expect(try library.unreferencedFiles(id) == unknown)
        // A player of another process has received the file, and is about to enter it in the catalog.
        let other = try AssetLibrary(directory: temporary.directory)
        let (reception, _) = other.reception(of: missing[1], id)
        #expect(other.claim(reception, of: missing[1], id) == .granted)
        #expect(try library.unreferencedFiles(id) == Array(unknown.prefix(2)))
        other.endReception(of: missing[1], id, length: nil)
        #expect(try library.removeUnknownFiles(id) == unknown)
        let left = ["media/000000.ts", "media/000001.ts.part", "media/000001.ts.resume"]
        #expect(try temporary.names(of: id).filter { $0.hasPrefix("media/0") } == left)
    }

    @Test func keyIsRemovedByItsURL() throws {
        let id = try temporary.planned(
            try TemporaryLibrary.media(
                #"#EXT-X-KEY:METHOD=AES-128,URI="a.key",IV=0x01"#,
                "#EXTINF:4,",
                "0.ts",
                #"#EXT-X-KEY:METHOD=AES-128,URI="b.key",IV=0x01"#,
                "#EXTINF:4,",
                "1.ts"
            )
        )
        try temporary.complete(id)
        try library.removeKey(at: ResourceAddress(TemporaryLibrary.origin + "0.ts"), of: id)
        #expect(try library.missingCount(id) == 0)
        try library.removeKey(at: ResourceAddress(TemporaryLibrary.origin + "a.key"), of: id)
        #expect(try library.missingResources(id).map(\.address.lastPathComponent) == ["a.key"])
        #expect(try library.asset(id).state == .partial && !library.asset(id).isPlayableOffline)
    }

    @Test func deletionIsFoundWhenADirectoryIsGone() throws {
        let id = try temporary.enter()
        try plan(id, ["0.ts"])
        let missing = try library.missingResources(id)
        temporary.files.fail("synchronize folder packages/*/media", with: ENOENT)
        let error = storageError { try temporary.store(missing, of: id) }
        #expect(error?.code == "not-found")
        #expect(error?.message == "the asset was deleted while it was being downloaded")
        #expect(try library.missingCount(id) == 1)
    }
}
