import ArgumentParser
import Foundation
import NetworkConditioning

/// The option for the simulated network conditions of a command.
struct ConditionsFlag: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            "Simulate network conditions: a name that millstream conditions list shows, or a file with conditions or a trace.",
            valueName: "NAME|FILE"
        ),
        completion: .list(LinkProfile.presets.map(\.name))
    )
    var conditions: String?

    /// The selected conditions; `nil` if the option is not given.
    var profile: LinkProfile? {
        get throws { try conditions.map { try Self.profile($0) } }
    }

    /// Returns the conditions with a name, or those in a file.
    ///
    /// - Throws: ``Failure`` if there is neither, or the file is not valid.
    static func profile(_ text: String) throws -> LinkProfile {
        if let preset = LinkProfile(preset: text) { return preset }
        guard FileManager.default.fileExists(atPath: text) else {
            throw Failure(
                .wrongUsage,
                "unknown-conditions",
                "there are no conditions and no file named \"\(text)\"",
                hint: "millstream conditions list shows the names"
            )
        }
        do {
            var profile = try JSONDecoder().decode(LinkProfile.self, from: try contents(text))
            if profile.trace != nil, profile.name == "trace" {
                profile.name = URL(fileURLWithPath: text).deletingPathExtension().lastPathComponent
            }
            return profile
        } catch let error as LinkProfileError {
            throw Failure(.badInput, "bad-conditions", "\(text): \(error)")
        } catch let error as DecodingError {
            throw Failure(.badInput, "bad-conditions", "\(text): \(reason(error))")
        }
    }

    /// The maximum size of a file of conditions, in bytes: 134 for each of a million periods, the maximum of a trace.
    private static let maximumSize = 128 << 20

    private static func contents(_ path: String) throws -> Data {
        guard let data = try? InputFile.contents(path, limit: maximumSize) else {
            throw Failure(.failed, "file-failed", "the file \(path) cannot be read")
        }
        guard data.count <= maximumSize else {
            throw Failure(.badInput, "bad-conditions", "\(path): the file is larger than 128 MiB")
        }
        guard !data.isEmpty else { throw Failure(.badInput, "bad-conditions", "\(path): the file is empty") }
        return data
    }

    private static func reason(_ error: DecodingError) -> String {
        func position(_ context: DecodingError.Context) -> String {
            let path = context.codingPath.map { $0.intValue.map { "entry \($0)" } ?? $0.stringValue }
            return path.isEmpty ? "" : " in \(path.joined(separator: ", "))"
        }
        switch error {
        case .keyNotFound(let key, let context): return "\(key.stringValue) is missing\(position(context))"
        case .typeMismatch(_, let context), .valueNotFound(_, let context):
            return "a value has the wrong type\(position(context))"
        // An error at a position is about a value in valid JSON, such as a number that no type can represent.
        case .dataCorrupted(let context) where !context.codingPath.isEmpty:
            return "a value is not valid\(position(context))"
        default: return "not JSON"
        }
    }
}
