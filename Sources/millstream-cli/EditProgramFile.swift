import Foundation
import PlaylistEditing

/// A file with edits as JSON.
enum EditProgramFile {
    /// The maximum size in bytes; a plan has at most 16 edits.
    private static let maximumSize = 1 << 20

    /// Returns the edits in a file.
    ///
    /// - Throws: ``Failure`` if the file cannot be read or does not contain edits.
    static func plan(at path: String) throws -> EditPlan {
        guard let data = try? InputFile.contents(path, limit: maximumSize) else {
            throw Failure(.failed, "file-failed", "\(path) cannot be read")
        }
        guard data.count <= maximumSize else {
            throw Failure(.badInput, "invalid-program", "\(path) is larger than 1 MiB")
        }
        do {
            return try JSONDecoder().decode(EditPlan.self, from: data)
        } catch let error as PlaylistEditError {
            throw Failure(.badInput, error.code.rawValue, "\(path): \(error.description)", hint: hint)
        } catch {
            throw Failure(.badInput, "invalid-program", "\(path) is not a list of edits in JSON", hint: hint)
        }
    }

    private static let hint =
        #"write a list such as [{"name": "max-height", "value": "720"}, {"name": "no-i-frames"}]; see millstream edits"#
}
