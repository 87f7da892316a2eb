public import Adaptation
import Foundation
import MediaTiming

/// A file that stores throughput estimates between launches.
public struct ThroughputStore: Sendable {
    private let path: String
    /// The maximum number of bytes that are read: more than 64 networks with names of 255 bytes.
    private static let maximumFileSize = 64 << 10

    /// Creates a store without reading the file.
    ///
    /// - Parameter path: The path of the file, which does not have to exist.
    public init(path: String) { self.path = path }

    /// Returns the stored estimates; empty if the file does not exist or cannot be read.
    public func load() -> ThroughputMemory {
        guard let file = FileHandle(forReadingAtPath: path), let data = try? file.read(upToCount: Self.maximumFileSize)
        else {
            return ThroughputMemory()
        }
        return ThroughputMemory(text: String(decoding: data, as: UTF8.self))
    }

    /// Replaces the stored estimates; the file has the mode 0600.
    ///
    /// - Throws: ``TransportError`` if the file cannot be written.
    public func save(_ memory: ThroughputMemory) throws {
        do {
            let url = URL(fileURLWithPath: path)
            try PrivateFiles.createFolder(url.deletingLastPathComponent().path)
            try PrivateFiles.write(Array(memory.text.utf8), to: url.path)
        } catch {
            throw TransportError(
                .fileFailed,
                "the file \(path) cannot be written (\(FileErrorText.reason(of: error)))",
                cause: error
            )
        }
    }
}

/// The identity of the current network.
public enum NetworkIdentity {
    /// A name for the network of the default route; `nil` if there is no default route or the system is not Linux.
    ///
    /// The name consists of the interface, the gateway, and, if known, the hardware address of the gateway, as read
    /// from `/proc/net`. On other systems, the application must provide a name.
    public static var current: String? {
        guard let routes = try? String(contentsOfFile: "/proc/net/route", encoding: .utf8) else { return nil }
        let neighbors = (try? String(contentsOfFile: "/proc/net/arp", encoding: .utf8)) ?? ""
        return name(routes: routes, neighbors: neighbors)
    }

    /// Returns the network name for the given content of `/proc/net/route` and `/proc/net/arp`.
    static func name(routes: String, neighbors: String) -> String? {
        for line in routes.split(separator: "\n").dropFirst() {
            let words = line.split(whereSeparator: \.isWhitespace)
            // The default route has the destination 0; addresses are hexadecimal in little-endian order.
            guard words.count > 7, words[1] == "00000000", words[7] == "00000000",
                let raw = UInt32(words[2], radix: 16)
            else { continue }
            let gateway = (0..<4).map { String(raw >> (8 *| $0) & 0xFF) }.joined(separator: ".")
            let hardware =
                neighbors.split(separator: "\n").map { $0.split(whereSeparator: \.isWhitespace) }
                .first { $0.count > 3 && $0[0] == gateway }.map { " \($0[3])" } ?? ""
            return "\(words[0]) \(gateway)\(hardware)"
        }
        return nil
    }
}
