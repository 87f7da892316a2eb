package import DASHTranslation
import Foundation
import MediaTransport
import ResourceAddressing
import Synchronization

/// A file that stores the numbers of live presentations between two runs of a program.
///
/// The first line identifies the form and its version; each other line is a presentation, the most recently used one
/// last. Only its owner can read the file, because URLs of manifests can contain secrets. One program at a time can use
/// it. All calls block.
package final class TranslationStateFile: Sendable {
    /// The maximum sizes of a file.
    package struct Limits: Sendable {
        /// The maximum number of bytes; 64 MiB by default.
        package var byteCount = 64 << 20
        /// The maximum number of presentations, of which the least recently used are removed; 64 by default.
        package var presentationCount = 64

        /// Creates the default limits.
        package init() {}
    }

    private struct Header: Codable {
        let form: String
        let version: Int
    }

    private struct Record: Codable {
        let manifest: String
        let state: TranslationState
    }

    private struct Presentation {
        let manifest: String
        let line: [UInt8]
    }

    private static let form = "millstream-translation-state"
    private static let version = 1
    private static let lineFeed = UInt8(ascii: "\n")

    /// The path of the file.
    package let path: String
    private let limits: Limits
    private let presentations: Mutex<[Presentation]>

    /// Reads a file; one that does not exist is created when a state is stored.
    ///
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - limits: The maximum sizes.
    /// - Throws: ``TranslationStateError`` if the file cannot be read, is damaged or has a newer form.
    package init(_ path: String, limits: Limits = Limits()) throws {
        self.path = path
        self.limits = limits
        presentations = Mutex(try Self.read(path, limits))
    }

    private static func read(_ path: String, _ limits: Limits) throws -> [Presentation] {
        let data: Data
        do {
            let handle = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
            defer { try? handle.close() }
            data = try handle.read(upToCount: limits.byteCount + 1) ?? Data()
        } catch CocoaError.fileReadNoSuchFile {
            return []
        } catch {
            throw TranslationStateError(
                .unreadable,
                "the state file \(path) cannot be read (\(FileErrorText.reason(of: error)))"
            )
        }
        guard data.count <= limits.byteCount else { throw damaged(path, "it is larger than \(limits.byteCount) bytes") }
        let lines = [UInt8](data).split(separator: lineFeed).map(Array.init)
        let decoder = JSONDecoder()
        guard let first = lines.first, let header = try? decoder.decode(Header.self, from: Data(first)),
            header.form == form
        else { throw damaged(path, "its first line does not identify it") }
        guard header.version <= version else {
            throw TranslationStateError(.tooNew, "the state file \(path) was written by a newer version of the program")
        }
        guard data.last == lineFeed else { throw damaged(path, "its end is missing") }
        return try lines.dropFirst().enumerated().map { number, line in
            guard let record = try? decoder.decode(Record.self, from: Data(line)) else {
                throw damaged(path, "line \(number + 2) cannot be read")
            }
            return Presentation(manifest: record.manifest, line: line)
        }
    }

    private static func damaged(_ path: String, _ reason: String) -> TranslationStateError {
        TranslationStateError(
            .damaged,
            "the state file \(path) is damaged (\(reason)): delete it to begin with new numbers"
        )
    }

    /// Returns the state of a presentation, or `nil` if none is stored.
    ///
    /// - Parameter manifest: The URL or path of the manifest.
    /// - Returns: The state with which a translator continues.
    package func state(of manifest: String) -> TranslationState? {
        let line = presentations.withLock { list in list.last { $0.manifest == manifest }?.line }
        return line.flatMap { try? JSONDecoder().decode(Record.self, from: Data($0)).state }
    }

    /// Stores the state of a presentation, and replaces the file atomically.
    ///
    /// - Parameters:
    ///   - state: The state.
    ///   - manifest: The URL or path of the manifest.
    /// - Throws: ``TranslationStateError`` if the file cannot be written, or if the state alone exceeds its maximum size.
    package func store(_ state: TranslationState, of manifest: String) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let header = Array(try encoder.encode(Header(form: Self.form, version: Self.version)))
        let line = Array(try encoder.encode(Record(manifest: manifest, state: state)))
        guard header.count + line.count + 2 <= limits.byteCount else {
            throw TranslationStateError(.failed, "the numbers of \(manifest) are too large for the state file \(path)")
        }
        // The lock also orders the writes.
        try presentations.withLock { list in
            list.removeAll { $0.manifest == manifest }
            list.append(Presentation(manifest: manifest, line: line))
            var size = list.reduce(header.count + 1) { $0 + $1.line.count + 1 }
            while list.count > limits.presentationCount || size > limits.byteCount {
                size -= list.removeFirst().line.count + 1
            }
            var bytes = header + [Self.lineFeed]
            for presentation in list { bytes += presentation.line + [Self.lineFeed] }
            do {
                let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
                try PrivateFiles.createFolder(folder)
                try PrivateFiles.write(bytes, to: path)
            } catch {
                throw TranslationStateError(
                    .failed,
                    "the state file \(path) cannot be written (\(FileErrorText.reason(of: error)))"
                )
            }
        }
    }
}
