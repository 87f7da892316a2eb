import Foundation
import GRDB
import HLSPlaylist
import MediaTiming
import MediaTransport
import MillstreamTesting
import NIOCore
import ResourceAddressing
import Synchronization
import Testing

@testable import AssetStorage

/// Tests what of an asset can be played, and how it is locked and limited meanwhile.
@Suite struct PresentationDetailTests {
    private let temporary: TemporaryLibrary

    init() throws { temporary = try TemporaryLibrary() }

    private var library: AssetLibrary { temporary.library }

    // MARK: Audio

    /// The first two renditions are in one group, the audio of the second group is in the segments of the variant, and the last variant
    /// has a group that does not exist.
    @Test(
        arguments: [
            ([:], true), ([0: false], false), ([0: true], true), ([0: true, 1: false], true),
            ([0: false, 1: true], true), ([0: false, 1: false], false), ([3: false], true), ([2: false], true),
        ] as [([Int: Bool], Bool)]
    )
    func variantNeedsOneStoredRenditionOfItsGroup(isComplete: [Int: Bool], isAvailable: Bool) throws {
        let playlist = try TemporaryLibrary.multivariant(
            #"#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="E",URI="en.m3u8""#,
            #"#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="F",URI="fr.m3u8""#,
            #"#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="b",NAME="M""#,
            #"#EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="a",NAME="S",URI="s.m3u8""#,
            #"#EXT-X-STREAM-INF:BANDWIDTH=1,AUDIO="a""#,
            "0.m3u8",
            #"#EXT-X-STREAM-INF:BANDWIDTH=2,AUDIO="b""#,
            "1.m3u8",
            "#EXT-X-STREAM-INF:BANDWIDTH=3",
            "2.m3u8",
            #"#EXT-X-STREAM-INF:BANDWIDTH=4,AUDIO="c""#,
            "3.m3u8"
        )
        guard case .multivariant(let source) = playlist else { throw CancellationError() }
        let groups = StoredAudioGroups(source) { isComplete[$0] }
        let available = source.variants.map { groups.isAvailable(for: $0) }
        #expect(available == [isAvailable, true, true, true])
    }

    // MARK: Media files

    private func text(_ request: TransportRequest, _ transport: any Transport) async throws -> String {
        var buffers = try await transport.send(request).body.makeAsyncIterator()
        var text = ""
        while let buffer = try await buffers.next() { text += String(buffer: buffer) }
        return text
    }

    /// A media file is read under its own URL and that of the source.
    @Test func mediaFileIsReadFromTheDiskWhenItIsStored() async throws {
        let names = ["film.mp4", "top.m3u8", "other.mp4"].map { TemporaryLibrary.origin + $0 }
        let origin = ScriptedTransport(texts: Dictionary(uniqueKeysWithValues: names.map { ($0, "origin") }))
        let id = try temporary.enter()
        let media = try TemporaryLibrary.media("#EXTINF:4,", "film.mp4")
        try temporary.plan(
            id,
            .media(media),
            PlannedRendition(
                role: .variant,
                position: -1,
                language: nil,
                variant: nil,
                playlist: media,
                address: ResourceAddress(names[0]),
                mediaFileExtension: ".mp4"
            )
        )
        let transport = AssetTransport(library, id: id, origin: origin)
        for isStored in [false, true] {
            if isStored { try temporary.store(library.missingResources(id), of: id, content: "stored") }
            for (name, isFile) in zip(names, [true, true, false]) {
                let request = TransportRequest(ResourceAddress(name), kind: .segment)
                #expect(try await text(request, transport) == (isStored && isFile ? "stored" : "origin"), "\(name)")
            }
        }
    }

    // MARK: Locks

    /// A lock that is released while another task waits for it.
    private final class HeldLock: Sendable {
        private let lock: Mutex<PackageLock?>

        init(_ lock: PackageLock?) { self.lock = Mutex(lock) }

        func release() { lock.withLock { $0 = nil } }
    }

    @Test func lockIsAwaitedNineTimes() throws {
        let id = try temporary.enter()
        let held = HeldLock(try library.lock(id))
        let waits = Mutex(0)
        temporary.files.whileWaiting { number in waits.withLock { $0 = number } }
        #expect(storageError { _ = try library.lock(id) }?.code == "asset-busy")
        #expect(waits.withLock { $0 } == 9)
        temporary.files.whileWaiting { number in if number == 9 { held.release() } }
        let lock = try library.lock(id)
        #expect(PackageLock.isHeld(library.packageDirectory(id)))
        withExtendedLifetime(lock) {}
        for unknown in ["none", "A", ""] {
            #expect(storageError { _ = try library.lock(unknown) }?.code == "not-found", "\(unknown)")
        }
    }

    @Test func downloadsOfOneProcessShareALock() throws {
        let ids = [try temporary.enter(), try temporary.enter("B", from: "b.m3u8")]
        let (first, second) = (try library.sharedLock(ids[0]), try library.sharedLock(ids[0]))
        let other = try library.sharedLock(ids[1])
        #expect(first === second && first !== other)
        #expect(storageError { _ = try library.lock(ids[0]) }?.code == "asset-busy")
        withExtendedLifetime((first, second, other)) {}
    }

    // MARK: Space

    /// The simulated disk has 123,456 free bytes, and the quota leaves space for the log of the catalog.
    @Test func spaceForOtherFilesIsNotCountedTwice() throws {
        let id = try temporary.planned(try TemporaryLibrary.media("#EXTINF:4,", "a.ts"))
        let content = String(repeating: "x", count: 1_000_000)
        try temporary.store(library.missingResources(id), of: id, content: content)
        try library.setStoragePolicy(StoragePolicy(isPinned: true), of: id)
        try library.setStorageLimits(StorageLimits(quota: library.diskUsage.occupiedBytes + ByteCount(120_000)))
        try library.makeSpace(for: ByteCount(40_000))
        for check in [
            { try library.checkSpace(for: $0) }, { try library.checkSpace(forEstimate: $0) },
        ] as [(ByteCount) throws -> Void] {
            try check(ByteCount(20_000))
            #expect(storageError { try check(ByteCount(90_000)) }?.code == "disk-full")
        }
        library.releaseSpace(ByteCount(40_000), stored: .zero)
        #expect(library.space.reservedBytes == .zero)
    }

    // MARK: Errors

    @Test func reasonIsThatOfTheCatalogOrTheLibrary() {
        #expect(AssetLibrary.reason(StorageError(.disk, "no disk")) == "no disk")
        #expect(AssetLibrary.reason(DatabaseError(resultCode: .SQLITE_FULL, message: "no space")) == "no space")
    }
}
