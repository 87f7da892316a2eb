import DASHTranslation
import Foundation
import MediaTransport
import PresentationLoading
import ReportFormat

/// The file in which `millstream translate` stores the numbers of a live presentation between two runs.
struct TranslationStateFile {
    /// The contents of the file.
    private struct Contents: Codable {
        let manifest: String
        let state: TranslationState
    }

    private let url: URL
    private let manifest: String

    /// Creates a reference to the file at a path for the manifest with the given URL or path.
    init(_ path: String, manifest: String) {
        url = URL(fileURLWithPath: path)
        self.manifest = manifest
    }

    /// Reads the state of the previous run; a new one if there is no file.
    ///
    /// - Throws: `Failure` if the file cannot be read, or belongs to another manifest.
    func read() throws -> TranslationState {
        let data: Data
        do {
            data = try Data(contentsOf: url)
        } catch CocoaError.fileReadNoSuchFile {
            return TranslationState()
        } catch {
            throw Failure(.failed, "disk-failed", "\(url.path) cannot be read (\(FileErrorText.reason(of: error)))")
        }
        guard let contents = try? JSONDecoder().decode(Contents.self, from: data) else {
            let message = "\(url.path) is not a state file of this version: delete it to begin with new numbers"
            throw Failure(.badInput, "invalid-state", message)
        }
        guard contents.manifest == manifest else {
            let other = contents.manifest
            throw Failure(
                .badInput,
                "invalid-state",
                "\(url.path) belongs to the manifest \(other), not to \(manifest)"
            )
        }
        return contents.state
    }

    /// Replaces the file.
    func write(_ state: TranslationState) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        let data = try encoder.encode(Contents(manifest: manifest, state: state))
        try OutputFile.write(Array(data), to: url)
    }
}
