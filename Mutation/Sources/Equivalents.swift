import Foundation

/// The faults that change nothing that a user could see, each with the reason.
///
/// The file has a line for each fault, its signature as the report prints it, followed by an indented line with the reason.
struct Equivalents {
    private var reasons: [String: String] = [:]

    /// Reads the file; a missing file has no entries.
    init(_ file: URL) throws {
        guard FileManager.default.fileExists(atPath: file.path) else { return }
        var signature: String?
        for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") {
            if line.hasPrefix("#") { continue }
            if line.hasPrefix("    ") {
                guard let known = signature else { throw Failure("\(file.path): a reason without a fault: \(line)") }
                reasons[known] = line.trimmingCharacters(in: .whitespaces)
            } else {
                signature = String(line)
            }
        }
    }

    func reason(for mutant: Mutant) -> String? { reasons[mutant.signature] }
}
