import Foundation
import MediaTiming
import NIOCore
import Synchronization
import Testing

@testable import AssetStorage

/// Tests the receptions of files, which a download, players and other processes share.
@Suite struct FileReceptionTests {
    private let temporary: TemporaryLibrary

    init() throws { temporary = try TemporaryLibrary() }

    private var library: AssetLibrary { temporary.library }

    // MARK: States

    @Test func phaseHasTheAttemptAndTheBytes() {
        let reception = FileReception("/a")
        #expect(reception.phase == .waiting)
        // No response has begun.
        reception.setWritten(5)
        #expect(reception.phase == .waiting)
        reception.begin(length: 10, written: 2)
        #expect(reception.phase == .receiving(attempt: 1, length: 10, written: 2))
        reception.setWritten(5)
        #expect(reception.phase == .receiving(attempt: 1, length: 10, written: 5))
        reception.interrupt()
        #expect(reception.phase == .waiting)
        reception.begin(length: nil, written: 0)
        #expect(reception.phase == .receiving(attempt: 2, length: nil, written: 0))
        reception.end(.stored(length: 7))
        #expect(reception.phase == .stored(length: 7))
        reception.setWritten(9)
        #expect(reception.phase == .stored(length: 7))
    }

    @Test func waitEndsWithItsPhase() async throws {
        let reception = FileReception("/a")
        reception.begin(length: 10, written: 2)
        #expect(try await reception.waitForResponse() == .receiving(attempt: 1, length: 10, written: 2))
        for phase in [FileReception.Phase.stored(length: 3), .failed] {
            reception.end(phase)
            #expect(try await reception.waitForResponse() == phase)
            #expect(try await reception.waitForEnd() == phase)
        }
    }

    @Test(.timeLimit(.minutes(1))) func canceledWaitEnds() async throws {
        let reception = FileReception("/a")
        let response = Task { try await reception.waitForResponse() }
        response.cancel()
        await #expect(throws: CancellationError.self) { try await response.value }
        reception.begin(length: nil, written: 0)
        let end = Task { try await reception.waitForEnd() }
        end.cancel()
        await #expect(throws: CancellationError.self) { try await end.value }
    }

    /// The bytes on the disk are those of one attempt of the other process.
    @Test func fileOfAnotherProcessIsFollowed() {
        let reception = FileReception("/a")
        let (first, second) = (FileIdentity(device: 1, number: 2), FileIdentity(device: 1, number: 3))
        reception.follow(nil)
        #expect(reception.phase == .waiting)
        for (file, written, attempt) in [
            (first, 4, 1), (first, 6, 1), (first, 6, 1), (nil, 7, 1), (first, 8, 1),
            // Another file, and a file that has become shorter, are other attempts.
            (second, 9, 2), (second, 3, 3), (nil, 3, 3), (second, 3, 3), (first, 5, 4),
        ] as [(FileIdentity?, Int64, Int)] {
            reception.follow((file: file, written: written))
            #expect(reception.phase == .receiving(attempt: attempt, length: nil, written: written))
        }
        // The other process has stopped.
        reception.follow(nil)
        #expect(reception.phase == .waiting)
        reception.follow((file: first, written: 5))
        #expect(reception.phase == .receiving(attempt: 5, length: nil, written: 5))
    }

    @Test func lastReaderEndsTheUse() {
        let reception = FileReception("/a")
        let count = Mutex(0)
        reception.whenUnused { count.withLock { $0 += 1 } }
        #expect(!reception.hasReaders)
        var first: ReceptionReader? = ReceptionReader(reception)
        var second: ReceptionReader? = ReceptionReader(reception)
        #expect(reception.hasReaders)
        withExtendedLifetime(first) {}
        first = nil
        #expect(reception.hasReaders)
        #expect(count.withLock { $0 } == 0)
        withExtendedLifetime(second) {}
        second = nil
        #expect(!reception.hasReaders)
        #expect(count.withLock { $0 } == 1)
    }

    @Test func claimFollowsTheReception() throws {
        let own = try #require(ReceptionClaims(temporary.directory, isWritable: true))
        let other = try #require(ReceptionClaims(temporary.directory, isWritable: true))
        let file = ClaimedFile("media/0.ts")
        let reception = FileReception("/a")
        #expect(own.claim(file))
        reception.hold(own, file)
        #expect(!other.isReceivedElsewhere(file))
        reception.begin(length: nil, written: 0)
        #expect(other.isReceivedElsewhere(file))
        reception.interrupt()
        #expect(!other.isReceivedElsewhere(file) && other.isClaimedElsewhere(file))
        reception.begin(length: nil, written: 0)
        reception.end(.failed)
        #expect(!other.isReceivedElsewhere(file) && !other.isClaimedElsewhere(file))
        // The claim was given back, and is not set again.
        reception.begin(length: nil, written: 0)
        #expect(!other.isReceivedElsewhere(file))
    }

    @Test func receptionOfAFileIsThatOfItsFirstUser() {
        let registry = ReceptionRegistry()
        let (first, isOwner) = registry.reception(path: "/a")
        let (second, isSecondOwner) = registry.reception(path: "/a")
        #expect(first === second && isOwner && !isSecondOwner)
        #expect(registry.reception(path: "/b").reception !== first)
        registry.end(path: "/a", length: 5)
        #expect(first.phase == .stored(length: 5))
        let next = registry.reception(path: "/a")
        #expect(next.reception !== first && next.isOwner)
        registry.end(path: "/a", length: nil)
        #expect(next.reception.phase == .failed)
    }

    // MARK: Claims of processes

    /// Adds an asset with one file, which is not stored.
    private func planned() throws -> (id: String, resource: StoredResource) {
        let id = try temporary.planned(try TemporaryLibrary.media("#EXTINF:4,", "0.ts"))
        return (id, try #require(try library.missingResources(id).first))
    }

    /// Returns the result of a claim on a file, which ends at once.
    private func claim(in library: AssetLibrary, _ resource: StoredResource, _ id: String) -> ReceptionClaim {
        let reception = library.reception(of: resource, id).reception
        defer { library.endReception(of: resource, id, length: nil) }
        return library.claim(reception, of: resource, id)
    }

    @Test func fileIsReceivedByOneProcessAtATime() throws {
        let (id, resource) = try planned()
        let other = try AssetLibrary(directory: temporary.directory)
        let reader = try AssetLibrary(reading: temporary.directory)
        #expect(claim(in: reader, resource, id) == .granted)
        let (reception, isOwner) = library.reception(of: resource, id)
        #expect(isOwner)
        #expect(library.claim(reception, of: resource, id) == .granted)
        #expect(claim(in: other, resource, id) == .receivedElsewhere)
        #expect(claim(in: reader, resource, id) == .receivedElsewhere)
        #expect(other.isBeingReceived(resource.path, id) && library.isBeingReceived(resource.path, id))
        #expect(!other.isBeingReceived("media/other.ts", id))
        library.endReception(of: resource, id, length: nil)
        #expect(!other.isBeingReceived(resource.path, id))
        // A reader claims nothing.
        let (theirs, _) = reader.reception(of: resource, id)
        #expect(reader.claim(theirs, of: resource, id) == .granted)
        #expect(claim(in: other, resource, id) == .granted)
        #expect(claim(in: library, resource, id) == .granted)
    }

    @Test func storedFileIsNotReceivedAgain() throws {
        let (id, resource) = try planned()
        let other = try AssetLibrary(directory: temporary.directory)
        let reader = try AssetLibrary(reading: temporary.directory)
        try temporary.store([resource], of: id)
        let kept = library.keepClaimsOpen(id)
        let (reception, _) = library.reception(of: resource, id)
        #expect(library.claim(reception, of: resource, id) == .stored(length: 4))
        // The claim does not stay.
        #expect(!other.isBeingReceived(resource.path, id))
        #expect(claim(in: other, resource, id) == .stored(length: 4))
        #expect(claim(in: reader, resource, id) == .stored(length: 4))
        withExtendedLifetime(kept) {}
    }

    @Test func fileThatIsNotThatOfTheCatalogIsReceived() throws {
        let (id, resource) = try planned()
        let url = temporary.url(resource.path, of: id)
        try Data("0.ts".utf8).write(to: url)
        #expect(claim(in: library, resource, id) == .granted)
        try temporary.store([resource], of: id)
        #expect(claim(in: library, resource, id) == .stored(length: 4))
        try Data("other size".utf8).write(to: url)
        #expect(claim(in: library, resource, id) == .granted)
        try Data("0.ts".utf8).write(to: url)
        #expect(claim(in: library, resource, id) == .stored(length: 4))
        // A file that is reached over a link is not part of the package.
        let moved = temporary.directory.appendingPathComponent("moved")
        try FileManager.default.moveItem(at: temporary.url("media", of: id), to: moved)
        try FileManager.default.createSymbolicLink(at: temporary.url("media", of: id), withDestinationURL: moved)
        #expect(claim(in: library, resource, id) == .granted)
    }

    @Test func claimsOfAProcessAreOpenedOnce() throws {
        let (id, _) = try planned()
        let kept = try #require(library.keepClaimsOpen(id))
        #expect(library.claims(of: id) === kept)
        #expect(library.claims(of: "none") == nil)
        withExtendedLifetime(kept) {}
    }

    // MARK: Bytes

    @Test func receivedFileStaysReadable() throws {
        let path = temporary.directory.path + "/file"
        try Data("0123456789".utf8).write(to: URL(fileURLWithPath: path))
        let file = try #require(ReadableFile(path))
        try FileManager.default.removeItem(atPath: path)
        #expect(ReadableFile(path) == nil)
        #expect(try Array(file.read(4, at: 3).readableBytesView) == Array("3456".utf8))
        // A read at the end has fewer bytes, and one after it is an error.
        #expect(try Array(file.read(4, at: 8).readableBytesView) == Array("89".utf8))
        #expect(storageError { _ = try file.read(4, at: 10) }?.code == "package-damaged")
    }
}
