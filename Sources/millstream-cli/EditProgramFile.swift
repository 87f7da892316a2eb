import Foundation
import MediaTiming
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
        } catch DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context) {
            throw Failure(.badInput, "invalid-program", "\(path): \(problem(at: context.codingPath))", hint: hint)
        } catch DecodingError.keyNotFound(let key, let context) {
            let edit = position(in: context.codingPath) ?? "the list"
            throw Failure(.badInput, "invalid-program", "\(path): \(edit) has no \(key.stringValue)", hint: hint)
        } catch {
            throw Failure(.badInput, "invalid-program", "\(path) is not JSON", hint: hint)
        }
    }

    /// Returns the problem of a value with the wrong type.
    private static func problem(at path: [any CodingKey]) -> String {
        guard let edit = position(in: path) else { return "the edits are not a list" }
        guard let field = path.last, field.intValue == nil else { return "\(edit) is not an object" }
        return "the \(field.stringValue) of \(edit) is not a string"
    }

    /// Returns the edit that a path names; `nil` for the whole list.
    private static func position(in path: [any CodingKey]) -> String? {
        path.first?.intValue.map { "edit \($0 +| 1)" }
    }

    private static let hint =
        #"write a list such as [{"name": "max-height", "value": "720"}, {"name": "no-i-frames"}]; see millstream edits"#
}
