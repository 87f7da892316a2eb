import Crypto
public import Foundation
import MediaTransport
public import ResourceAddressing

/// The secret from which the server derives its signing key.
///
/// Servers with the same secret accept each other's addresses.
public struct ServerSecret: Sendable {
    /// The minimum number of bytes in a file with a secret: 128 bits.
    public static let minimumLength = 16
    /// The maximum number of bytes: more adds no security, and reading a device file would never end.
    static let maximumLength = 65_536
    /// The name of the file in a library that stores the generated secret.
    static let fileName = "server-secret"
    private static let generatedLength = 32

    private let bytes: SymmetricKey
    /// A Boolean value that indicates whether other users of the machine can read the file of the secret.
    public let isReadableByOthers: Bool

    /// An error about a file with a secret.
    public struct ReadingError: MillstreamError {
        /// The kind of the error.
        public enum Code: String, ErrorCode {
            /// The file has no usable secret.
            case invalid = "invalid-secret"
        }

        /// The kind of the error.
        public var code: Code { .invalid }
        /// The description of the error.
        public var message: String { description }
        /// The failure and the file that it concerns.
        public let description: String
        /// The next step for the user.
        public let hint: String?
    }

    /// Creates a secret from bytes.
    ///
    /// - Parameters:
    ///   - bytes: The bytes.
    ///   - isReadableByOthers: A Boolean value that indicates whether other users can read them.
    package init(bytes: [UInt8], isReadableByOthers: Bool = false) {
        self.bytes = SymmetricKey(data: bytes)
        self.isReadableByOthers = isReadableByOthers
    }

    /// Creates a secret from all bytes of a file, including a line feed at the end.
    ///
    /// - Throws: ``ReadingError`` if the file cannot be read, or has fewer than ``minimumLength`` or more than 65,536
    ///   bytes.
    public init(file: URL) throws {
        let hint = "make one with: head -c 32 /dev/urandom > FILE; chmod 600 FILE"
        let (bytes, mode) = try Self.read(file)
        guard bytes.count >= Self.minimumLength else {
            throw ReadingError(
                description:
                    "the secret \(file.path) has \(bytes.count) bytes; at least \(Self.minimumLength) are needed",
                hint: hint
            )
        }
        guard bytes.count <= Self.maximumLength else {
            throw ReadingError(
                description: "the secret \(file.path) has more than \(Self.maximumLength) bytes",
                hint: hint
            )
        }
        self.init(bytes: bytes, isReadableByOthers: mode & 0o077 != 0)
    }

    /// Returns the secret that is stored in a folder, or generates and stores a random one if there is none.
    ///
    /// Only the owner can read the file. Servers that start at the same time use the same secret.
    ///
    /// - Throws: ``ReadingError`` if the file cannot be read or written.
    public static func stored(in directory: URL) throws -> ServerSecret {
        let file = directory.appendingPathComponent(fileName)
        if !FileManager.default.fileExists(atPath: file.path) { try make(file) }
        let (bytes, mode) = try read(file)
        guard bytes.count == generatedLength else {
            throw ReadingError(
                description: "the secret \(file.path) is damaged",
                hint: "delete the file; addresses of segments that were given out before become invalid"
            )
        }
        if mode & 0o077 != 0, chmod(file.path, 0o600) != 0 { throw failure("protected", file) }
        return ServerSecret(bytes: bytes)
    }

    /// Returns the secret that is stored in a folder that cannot be changed; a random one for this process if there is none.
    static func readable(in directory: URL) throws -> ServerSecret {
        let file = directory.appendingPathComponent(fileName)
        guard FileManager.default.fileExists(atPath: file.path) else {
            return ServerSecret(bytes: SymmetricKey(size: .bits256).withUnsafeBytes { Array($0) })
        }
        return ServerSecret(bytes: try read(file).bytes)
    }

    /// Derives a key for one purpose (RFC 5869).
    func key(for purpose: String) -> SymmetricKey {
        HKDF<SHA256>.deriveKey(
            inputKeyMaterial: bytes,
            salt: Array("millstream".utf8),
            info: Array(purpose.utf8),
            outputByteCount: 32
        )
    }

    private static func read(_ file: URL) throws -> (bytes: [UInt8], mode: Int) {
        let attributes: [FileAttributeKey: Any]
        let bytes: Data
        do {
            // A symbolic link to a file is accepted.
            attributes = try FileManager.default.attributesOfItem(atPath: file.resolvingSymlinksInPath().path)
            guard attributes[.type] as? FileAttributeType == .typeRegular else {
                throw ReadingError(description: "the secret \(file.path) is not a regular file", hint: nil)
            }
            let handle = try FileHandle(forReadingFrom: file)
            defer { try? handle.close() }
            bytes = try handle.read(upToCount: maximumLength + 1) ?? Data()
        } catch let error as ReadingError {
            throw error
        } catch {
            throw ReadingError(
                description: "the secret \(file.path) cannot be read (\(FileErrorText.reason(of: error)))",
                hint: nil
            )
        }
        return (Array(bytes), (attributes[.posixPermissions] as? NSNumber)?.intValue ?? 0)
    }

    /// Writes a random secret to a temporary file and links it into place, so that no reader sees a part of it and the
    /// first of several writers wins.
    private static func make(_ file: URL) throws {
        let key = SymmetricKey(size: .bits256)
        let temporary = file.deletingLastPathComponent().appendingPathComponent(".\(fileName)-\(UUID().uuidString)")
        let descriptor = open(temporary.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure("written", file) }
        defer {
            close(descriptor)
            unlink(temporary.path)
        }
        let written = key.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
        guard written == generatedLength, fsync(descriptor) == 0 else { throw failure("written", file) }
        guard link(temporary.path, file.path) == 0 || errno == EEXIST else { throw failure("written", file) }
    }

    private static func failure(_ verb: String, _ file: URL) -> ReadingError {
        ReadingError(
            description: "the secret \(file.path) cannot be \(verb) (\(String(cString: strerror(errno))))",
            hint: nil
        )
    }
}
