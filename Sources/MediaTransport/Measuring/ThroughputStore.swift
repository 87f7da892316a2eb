public import Adaptation
import Foundation
import MediaTiming

/// Estimates that outlive the process, in a file.
public struct ThroughputStore: Sendable {
    private let path: String
    /// No such file is larger: 64 networks with names of 255 bytes.
    private static let mostBytes = 64 << 10

    /// Makes a store; nothing is read yet.
    ///
    /// - Parameter path: The file, which need not be there.
    public init(path: String) { self.path = path }

    /// What was kept; empty where there is no such file, or it cannot be read.
    public func load() -> ThroughputMemory {
        guard let file = FileHandle(forReadingAtPath: path), let data = try? file.read(upToCount: Self.mostBytes) else {
            return ThroughputMemory()
        }
        return ThroughputMemory(text: String(decoding: data, as: UTF8.self))
    }

    /// Stores estimates in place of the former ones; the file has the mode 0600.
    ///
    /// - Throws: ``TransportError`` where the file cannot be written.
    public func save(_ memory: ThroughputMemory) throws {
        do {
            let url = URL(fileURLWithPath: path)
            try PrivateFiles.createFolder(url.deletingLastPathComponent().path)
            try PrivateFiles.write(Array(memory.text.utf8), to: url.path)
        } catch {
            throw TransportError(.fileFailed, "the file \(path) cannot be written (\(error.localizedDescription))")
        }
    }
}

/// Which network this machine is on.
public enum NetworkIdentity {
    /// A name for the network that the default route leads to; `nil` where there is none or the system does not tell.
    ///
    /// It holds the device, the gateway and, where it is known, the gateway's hardware address.
    /// Read from `/proc/net`, so on Linux only; an application elsewhere has its own name to give.
    public static var current: String? {
        guard let routes = try? String(contentsOfFile: "/proc/net/route", encoding: .utf8) else { return nil }
        let neighbours = (try? String(contentsOfFile: "/proc/net/arp", encoding: .utf8)) ?? ""
        return name(routes: routes, neighbours: neighbours)
    }

    /// The same, of the texts of `/proc/net/route` and `/proc/net/arp`.
    static func name(routes: String, neighbours: String) -> String? {
        for line in routes.split(separator: "\n").dropFirst() {
            let words = line.split(whereSeparator: \.isWhitespace)
            // The destination 0 is the default; addresses are hexadecimal, the first byte last.
            guard words.count > 7, words[1] == "00000000", words[7] == "00000000",
                let raw = UInt32(words[2], radix: 16)
            else { continue }
            let gateway = (0..<4).map { String(raw >> (8 *| $0) & 0xFF) }.joined(separator: ".")
            let hardware =
                neighbours.split(separator: "\n").map { $0.split(whereSeparator: \.isWhitespace) }
                .first { $0.count > 3 && $0[0] == gateway }.map { " \($0[3])" } ?? ""
            return "\(words[0]) \(gateway)\(hardware)"
        }
        return nil
    }
}
