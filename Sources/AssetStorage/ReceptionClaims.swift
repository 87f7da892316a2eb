import Foundation
import GRDB
import MediaTiming
import ResourceAddressing
import Synchronization

/// The claims of this process on files of a package that it receives, so that no other process requests them as well.
///
/// A claim is a lock on a byte of a file in the package (``ByteLocks``), at a position that follows from the name of the received
/// file. Within a process, ``ReceptionRegistry`` decides who receives a file.
final class ReceptionClaims: Sendable {
    /// The name of the file in the package.
    static let fileName = ".receptions"

    private let locks: ByteLocks

    /// Creates the claims on the files of the package in a directory; `nil` if their file cannot be opened.
    ///
    /// - Parameters:
    ///   - package: The directory.
    ///   - isWritable: Whether files are claimed; otherwise the claims of other processes can only be read.
    init?(_ package: URL, isWritable: Bool) {
        let path = package.appendingPathComponent(Self.fileName).path
        guard let locks = ByteLocks(path, flags: isWritable ? O_RDWR | O_CREAT : O_RDONLY) else { return nil }
        self.locks = locks
    }

    /// Claims a file.
    ///
    /// - Returns: A Boolean value that indicates whether no other process has claimed it. A file system without locks has no
    ///   claims, and each process receives what it needs.
    func claim(_ file: ClaimedFile) -> Bool { locks.acquire(.exclusive, at: file.position) }

    /// Returns a Boolean value that indicates whether another process has claimed a file.
    func isClaimedElsewhere(_ file: ClaimedFile) -> Bool { locks.positionOfOther(at: file.position) != nil }

    /// Marks the bytes of a claimed file on the disk as those that are received, or as others.
    func setReceiving(_ isReceiving: Bool, _ file: ClaimedFile) {
        if isReceiving {
            _ = locks.acquire(.exclusive, at: file.position +| 1)
        } else {
            locks.release(at: file.position +| 1)
        }
    }

    /// Returns a Boolean value that indicates whether the bytes of a file on the disk are those that another process
    /// receives.
    func isReceivedElsewhere(_ file: ClaimedFile) -> Bool { locks.positionOfOther(at: file.position +| 1) != nil }

    /// Ends the claim on a file.
    func release(_ file: ClaimedFile) {
        // Both locks are released at once, so that no other process sees the claim without the mark.
        locks.release(at: file.position, count: 2)
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
        guard let size = FileInspection.size("\(packagePath(id))/\(resource.path)"), hasFolder(of: resource, id) else {
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
