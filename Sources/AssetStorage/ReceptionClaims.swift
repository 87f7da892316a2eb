import Foundation
import GRDB
import MediaTiming
import ResourceAddressing
import Synchronization

/// The claims of this process on files of a package that it receives, so that no other process requests them as well.
///
/// A claim is a lock on a byte of a file in the package, at a position that follows from the name of the received file. The
/// system releases the locks of a process that ends (open file description locks, fcntl(2)). Within a
/// process, ``ReceptionRegistry`` decides who receives a file.
final class ReceptionClaims: Sendable {
    /// The name of the file in the package.
    static let fileName = ".receptions"

    private let descriptor: CInt

    /// Opens the claims on the files of the package in a directory; `nil` if that is not possible.
    ///
    /// - Parameters:
    ///   - package: The directory.
    ///   - isWritable: Whether files are claimed; otherwise the claims of other processes can only be read.
    init?(_ package: URL, isWritable: Bool) {
        let path = package.appendingPathComponent(Self.fileName).path
        let flags = isWritable ? O_RDWR | O_CREAT : O_RDONLY
        descriptor = open(path, flags | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { return nil }
    }

    deinit { close(descriptor) }

    /// Claims a file.
    ///
    /// - Returns: A Boolean value that indicates whether no other process has claimed it.
    func claim(_ file: ClaimedFile) -> Bool { setLock(F_WRLCK, at: file.position) }

    /// Returns a Boolean value that indicates whether another process has claimed a file.
    func isClaimedElsewhere(_ file: ClaimedFile) -> Bool { isLockedElsewhere(file.position) }

    /// Marks the bytes of a claimed file on the disk as those that are received, or as others.
    func setReceiving(_ isReceiving: Bool, _ file: ClaimedFile) {
        _ = setLock(isReceiving ? F_WRLCK : F_UNLCK, at: file.position +| 1)
    }

    /// Returns a Boolean value that indicates whether the bytes of a file on the disk are those that another process
    /// receives.
    func isReceivedElsewhere(_ file: ClaimedFile) -> Bool { isLockedElsewhere(file.position +| 1) }

    /// Ends the claim on a file.
    func release(_ file: ClaimedFile) {
        // Both locks are released at once, so that no other process sees the claim without the mark.
        _ = setLock(F_UNLCK, at: file.position, count: 2)
    }

    #if canImport(Darwin)
    private static let setCommand = F_OFD_SETLK
    private static let getCommand = F_OFD_GETLK
    #else
    // The module map of the C library does not have them (linux/fcntl.h).
    private static let setCommand: CInt = 37
    private static let getCommand: CInt = 36
    #endif

    private func lock(_ type: CInt, at position: Int64, count: Int64) -> flock {
        var lock = flock()
        lock.l_type = Int16(truncatingIfNeeded: type)
        lock.l_whence = Int16(truncatingIfNeeded: SEEK_SET)
        lock.l_start = off_t(position)
        lock.l_len = off_t(count)
        return lock
    }

    private func setLock(_ type: CInt, at position: Int64, count: Int64 = 1) -> Bool {
        var lock = lock(type, at: position, count: count)
        if fcntl(descriptor, Self.setCommand, &lock) == 0 { return true }
        // A file system without locks has no claims, and each process receives what it needs.
        return errno != EAGAIN && errno != EACCES
    }

    private func isLockedElsewhere(_ position: Int64) -> Bool {
        var lock = lock(F_WRLCK, at: position, count: 1)
        return fcntl(descriptor, Self.getCommand, &lock) == 0 && lock.l_type != Int16(truncatingIfNeeded: F_UNLCK)
    }
}

/// The position of a file in the locks of ``ReceptionClaims``.
struct ClaimedFile: Sendable, Hashable {
    /// The position of the claim; the mark of the received bytes follows.
    let position: Int64

    /// Creates the position of the file at a path relative to the package.
    ///
    /// Two files have the same position with a probability of 2^-61; they are then received one after the other.
    init(_ path: String) {
        // Bit 63 of a file offset is its sign, and the lowest bit tells the mark from the claim.
        let number = Int64(clamping: StableHash(path).value >> 3)
        position = Int64(bitPattern: UInt64(bitPattern: number) << 1)
    }
}

/// The next step of a process that wants to receive a file.
package enum ReceptionClaim: Sendable, Hashable {
    /// It receives the file.
    case granted
    /// It uses the file, which another process has stored.
    case stored(length: Int64)
    /// It waits for another process, which is receiving the file; see ``AssetLibrary/follow(_:of:_:)``.
    case receivedElsewhere
}

extension AssetLibrary {
    /// The time between two looks at a file that another process is receiving.
    private static let followInterval = Duration.milliseconds(50)

    /// Returns the claims of this process on files of an asset, which are open as long as one reference exists.
    package func keepClaimsOpen(_ id: String) -> AnyObject? { claims(of: id) }

    func claims(of id: String) -> ReceptionClaims? {
        claims.withLock { claims in
            if let known = claims[id]?.claims { return known }
            let opened = ReceptionClaims(packageDirectory(id), isWritable: isWritable)
            claims[id] = opened.map { WeakClaims(claims: $0) }
            return opened
        }
    }

    /// Claims a file for its reception, which the caller owns, until the reception ends.
    package func claim(_ reception: FileReception, of resource: StoredResource, _ id: String) -> ReceptionClaim {
        guard let claims = claims(of: id) else { return .granted }
        let file = ClaimedFile(resource.path)
        let isGranted = isWritable ? claims.claim(file) : !claims.isClaimedElsewhere(file)
        guard isGranted else { return .receivedElsewhere }
        // Another process may have stored the file since the caller read the catalog.
        if let length = storedLength(of: resource, id) {
            if isWritable { claims.release(file) }
            return .stored(length: length)
        }
        if isWritable { reception.hold(claims, file) }
        return .granted
    }

    /// Waits until another process has received a file, and makes its bytes readable as they arrive.
    ///
    /// - Parameters:
    ///   - reception: The reception of the file, which the caller owns.
    ///   - resource: The file.
    ///   - id: The identifier of the asset.
    /// - Returns: Whether the file is stored, or the caller has to receive it because the other process stopped.
    /// - Throws: `CancellationError`.
    package func follow(
        _ reception: FileReception,
        of resource: StoredResource,
        _ id: String
    ) async throws -> ReceptionClaim {
        let (claims, file) = (claims(of: id), ClaimedFile(resource.path))
        while true {
            let claim = claim(reception, of: resource, id)
            guard claim == .receivedElsewhere else { return claim }
            reception.follow(claims?.isReceivedElsewhere(file) == true ? part(of: reception) : nil)
            try await Task.sleep(for: Self.followInterval)
        }
    }

    /// Returns the file that another process is writing, and the number of bytes in it.
    private func part(of reception: FileReception) -> (file: FileIdentity?, written: Int64) {
        var status = stat()
        if lstat(reception.path + PackageFile.partialExtension, &status) == 0 {
            return (FileIdentity(status), Int64(status.st_size))
        }
        // The file does not exist before its first bytes, and has its final name before it is in the catalog.
        guard case .receiving(_, _, let written) = reception.phase else { return (nil, 0) }
        return (nil, written)
    }

    /// Returns the length of a file that is in the package and in the catalog; `nil` if it is not stored.
    private func storedLength(of resource: StoredResource, _ id: String) -> Int64? {
        // Almost always there is no such file, so that the catalog is not read.
        guard let size = PackageFile.size("\(packagePath(id))/\(resource.path)"), hasFolder(of: resource, id) else {
            return nil
        }
        let stored = try? catalog.read { database in
            try Int64.fetchOne(
                database,
                sql: "SELECT bytes FROM resource WHERE assetID = ? AND path = ? AND address = ? AND rangeStart IS ?",
                arguments: [id, resource.path, resource.address.text, resource.byteRange?.start]
            )
        }
        return stored == size ? size : nil
    }

    /// Returns a Boolean value that indicates whether a file is being received by this or another process.
    func isBeingReceived(_ path: String, _ id: String) -> Bool {
        // This file is opened anew, so that the claims of this process are seen as well.
        ReceptionClaims(packageDirectory(id), isWritable: false)?.isClaimedElsewhere(ClaimedFile(path))
            ?? false
    }
}

/// A reference to claims that does not keep them open.
struct WeakClaims: Sendable {
    weak var claims: ReceptionClaims?
}
