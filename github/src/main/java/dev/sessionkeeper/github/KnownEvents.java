package dev.sessionkeeper.github;

import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * The events that GitHub documents, each with its entity and the paths of the entity's id in the
 * payload.
 *
 * <p>A line has the event, the entity type and the paths of the id, of which the first present one
 * is used; {@code #} marks a number and {@code $} a text. Only an event with a path has an entity
 * smaller than the repository.
 */
final class KnownEvents {
  /** The path of an id. */
  record IdPath(String path, boolean isNumber) {}

  /** The entity of an event, and where its payload names it. */
  record Subject(String entityType, List<IdPath> ids) {}

  private static final String TABLE =
      """
      branch_protection_configuration  repository
      branch_protection_rule           branch_protection_rule     #rule.id
      check_run                        check_run                  #check_run.id
      check_suite                      check_suite                #check_suite.id
      code_scanning_alert              code_scanning_alert        #alert.number
      commit_comment                   repository
      create                           repository
      custom_property                  custom_property            $definition.property_name
      custom_property_values           repository
      delete                           repository
      dependabot_alert                 dependabot_alert           #alert.number
      deploy_key                       deploy_key                 #key.id
      deployment                       deployment                 #deployment.id
      deployment_protection_rule       deployment                 #deployment.id
      deployment_review                workflow_run               #workflow_run.id
      deployment_status                deployment                 #deployment.id
      discussion                       discussion                 #discussion.number
      discussion_comment               discussion                 #discussion.number
      fork                             repository
      github_app_authorization         user                       #sender.id
      gollum                           repository
      installation                     installation               #installation.id
      installation_repositories        installation               #installation.id
      installation_target              account                    #account.id
      issue_comment                    issue                      #issue.number
      issue_dependencies               issue                      #blocked_issue.number
      issues                           issue                      #issue.number
      label                            label                      #label.id
      marketplace_purchase             account                    #marketplace_purchase.account.id
      member                           user                       #member.id
      membership                       team                       #team.id
      merge_group                      merge_group                $merge_group.head_sha
      meta                             hook                       #hook_id
      milestone                        milestone                  #milestone.number
      org_block                        user                       #blocked_user.id
      organization                     organization               #organization.id
      package                          package                    #package.id
      page_build                       page_build                 #id
      personal_access_token_request    pat_request                #personal_access_token_request.id
      ping                             hook                       #hook_id
      project                          project                    #project.id
      project_card                     project_card               #project_card.id
      project_column                   project_column             #project_column.id
      projects_v2                      projects_v2                #projects_v2.id
      projects_v2_item                 projects_v2_item           #projects_v2_item.id
      projects_v2_status_update        projects_v2_status_update  #projects_v2_status_update.id
      public                           repository
      pull_request                     pull_request               #pull_request.number #number
      pull_request_review              pull_request               #pull_request.number
      pull_request_review_comment      pull_request               #pull_request.number
      pull_request_review_thread       pull_request               #pull_request.number
      push                             repository
      registry_package                 package                    #registry_package.id
      release                          repository
      repository                       repository
      repository_advisory              repository_advisory        $repository_advisory.ghsa_id
      repository_dispatch              repository
      repository_import                repository
      repository_ruleset               repository_ruleset         #repository_ruleset.id
      repository_vulnerability_alert   vulnerability_alert        #alert.number #alert.id
      secret_scanning_alert            secret_scanning_alert      #alert.number
      secret_scanning_alert_location   secret_scanning_alert      #alert.number
      secret_scanning_scan             secret_scanning_scan       #repository.id $type
      security_advisory                security_advisory          $security_advisory.ghsa_id
      security_and_analysis            repository
      sponsorship                      sponsorship                $sponsorship.node_id
      star                             repository
      status                           repository
      sub_issues                       issue                      #parent_issue.number #sub_issue.number
      team                             team                       #team.id
      team_add                         team                       #team.id
      watch                            repository
      workflow_dispatch                workflow                   $workflow
      workflow_job                     workflow_run               #workflow_job.run_id
      workflow_run                     workflow_run               #workflow_run.id
      """;

  private static final Map<String, Subject> SUBJECTS = read();

  private KnownEvents() {}

  static Optional<Subject> subjectOf(String type) {
    return Optional.ofNullable(SUBJECTS.get(type));
  }

  static Set<String> types() {
    return SUBJECTS.keySet();
  }

  static Set<String> paths() {
    var paths = new HashSet<String>();
    SUBJECTS.values().forEach(subject -> subject.ids().forEach(id -> paths.add(id.path())));
    return paths;
  }

  private static Map<String, Subject> read() {
    var subjects = new HashMap<String, Subject>();
    TABLE
        .lines()
        .map(line -> line.strip().split(" +", -1))
        .forEach(words -> subjects.put(words[0], new Subject(words[1], idsOf(words))));
    return Map.copyOf(subjects);
  }

  private static List<IdPath> idsOf(String[] words) {
    return Arrays.stream(words)
        .skip(2)
        .map(path -> new IdPath(path.substring(1), path.startsWith("#")))
        .toList();
  }
}
