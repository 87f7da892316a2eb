import Foundation
import PlaylistEditing
import ResourceAddressing

/// Reads a list of edits as JSON, as in a file of the command line, and applies them.
@Sendable func readEditProgram(_ bytes: [UInt8]) {
    guard let plan = try? JSONDecoder().decode(EditPlan.self, from: Data(bytes)) else { return }
    let written = try? JSONEncoder().encode(plan)
    let again = written.flatMap { try? JSONDecoder().decode(EditPlan.self, from: $0) }
    check(again == plan, "a program is written as another")
    let limits = EditLimits()
    do throws(PlaylistEditError) {
        try limits.verify(plan)
    } catch {
        return check(!error.description.isEmpty, "an error has no description")
    }
    // As many divisions of subtitles as edits are permitted besides, and one more.
    check(plan.edits.count <= 2 * limits.edits + 1, "there are more edits than allowed")
    check(Set(plan.sources).count <= limits.sources, "there are more sources than allowed")
    applyToSamples(plan)
}
