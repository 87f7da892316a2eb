import Foundation

/// The equivalent mutants, which do not change the observable behavior, each with the reason.
///
/// The file has a line for each mutant, its signature as printed in the report, followed by an indented line with the
/// reason.
struct Equivalents {
    private var reasons: [String: String] = [:]

    /// Reads the file; a missing file has no entries.
    ///
    /// - Throws: ``Failure`` if a reason has no mutant, or the error of Foundation.
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
